import { execFileSync } from 'node:child_process';
import { closeSync, constants, mkdtempSync, openSync, rmSync, writeSync } from 'node:fs';
import { Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drainOutput } from './drain-output.ts';

test('output that arrives while this process is busy is not lost', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'drain-'));
  const pipe = join(folder, 'pipe');
  execFileSync('mkfifo', [pipe]);
  const fd = openSync(pipe, constants.O_RDONLY | constants.O_NONBLOCK);
  const stream = new Socket({ fd, readable: true, writable: false });
  // It stays open, as with a process that lives on.
  const writer = openSync(pipe, constants.O_WRONLY);
  let output = '';
  stream.on('data', (chunk) => {
    output += chunk;
  });

  const drained = drainOutput(stream);
  writeSync(writer, 'late');
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 300);
  await drained;

  expect(output).toBe('late');
  closeSync(writer);
  rmSync(folder, { recursive: true });
});
