import { readFile, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { withFileLocks } from '../files/file-access.ts';
import {
  LoggingExecutionEnvironment,
  ReadOnlyExecutionEnvironment,
  RecordingExecutionEnvironment,
} from './wrappers.ts';

const bytes = (text: string) => new TextEncoder().encode(text);

test('the log has a line before and after each change, and reads when asked', async () => {
  await using place = await temporaryEnvironment();
  const lines: string[] = [];
  const environment = new LoggingExecutionEnvironment(place.environment, (line) => lines.push(line));
  await environment.writeBytes('a', bytes('xyz'));
  await environment.readBytes('a');
  await environment.exec('echo "1\n2"; exit 3');
  await environment.remove('absent').catch(() => {});
  expect(lines.map((line) => line.replace(/ in \d+ ms$/, ''))).toEqual([
    'writeBytes: "a" (3 bytes)',
    'writeBytes done',
    String.raw`exec: "echo \"1\n2\"; exit 3"`,
    'exec exit 3',
    'remove: "absent"',
    expect.stringMatching(/^remove failed \(ENOENT/),
  ]);
  lines.length = 0;
  const verbose = new LoggingExecutionEnvironment(place.environment, (line) => lines.push(line), {
    reads: true,
  });
  await verbose.readBytes('a');
  expect(lines[0]).toBe('readBytes: "a"');
});

test('read-only refuses changes and commands, and reads as before', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one');
  const environment = new ReadOnlyExecutionEnvironment(place.environment);
  const refused = { code: 'EROFS', message: expect.stringMatching(/disabled in read-only mode/) };
  await expect(environment.writeBytes('a', bytes('two'))).rejects.toMatchObject(refused);
  await expect(environment.remove('a')).rejects.toMatchObject(refused);
  await expect(environment.rename('a', 'b')).rejects.toMatchObject(refused);
  await expect(environment.mkdirp('d')).rejects.toMatchObject(refused);
  await expect(environment.exec('echo two > a')).rejects.toMatchObject(refused);
  await expect(environment.start?.('echo two > a')).rejects.toMatchObject(refused);
  const unheard = { onStdout: () => {}, onStderr: () => {} };
  await expect(environment.connect?.(['tee', 'a'], unheard)).rejects.toMatchObject(refused);
  expect(new TextDecoder().decode(await environment.readBytes('a'))).toBe('one');
  expect(await readFile(place.path('a'), 'utf8')).toBe('one');
  const some = new ReadOnlyExecutionEnvironment(place.environment, {
    allowCommand: (command) => command === 'cat a',
  });
  expect((await some.exec('cat a')).stdout).toBe('one');
  await expect(some.exec('cat a; rm a')).rejects.toMatchObject(refused);
});

test('the record shows what was done, how it ended, and what the limit dropped', async () => {
  await using place = await temporaryEnvironment();
  const environment = new RecordingExecutionEnvironment(place.environment, { limit: 2 });
  await environment.exec('exit 2');
  await environment.readBytes('absent').catch(() => {});
  expect(environment.records).toMatchObject([
    { operation: { method: 'exec', command: 'exit 2' }, outcome: { kind: 'done', exitCode: 2 } },
    { operation: { method: 'readBytes', path: 'absent' }, outcome: { kind: 'failed' } },
  ]);
  for (let index = 0; index < 5; index += 1) await environment.stat(`f${index}`);
  expect(environment.records.map(({ operation }) => 'path' in operation && operation.path)).toEqual([
    'f3',
    'f4',
  ]);
  expect(environment.dropped).toBe(5);
});

test('wrappers share the locks of what they wrap', async () => {
  await using place = await temporaryEnvironment();
  const wrapped = new RecordingExecutionEnvironment(
    new LoggingExecutionEnvironment(place.environment, () => {}),
  );
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const entered = Promise.withResolvers<void>();
  const first = withFileLocks(place.environment, ['a'], async () => {
    entered.resolve();
    await gate.promise;
    log.push('first');
  });
  await entered.promise;
  const second = withFileLocks(wrapped, ['a'], async () => void log.push('second'));
  gate.resolve();
  await Promise.all([first, second]);
  expect(log).toEqual(['first', 'second']);
});
