import { existsSync } from 'node:fs';
import { mkdir, readFile, utimes, writeFile } from 'node:fs/promises';
import type { JsonObject } from '@whetstone/events';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { withFileLocks } from '../files/file-access.ts';
import { applyPatchTool } from './apply-patch-tool.ts';
import { createEditFileTool } from './edit-file-tool.ts';
import { globTool } from './glob-tool.ts';
import { createGrepTool } from './grep-tool.ts';
import { listDirectoryTool } from './list-directory-tool.ts';
import { readFileTool } from './read-file-tool.ts';
import { createShellTool } from './shell-tool.ts';
import type { RegisteredTool, ToolContext, ToolOutput } from './tool.ts';
import { ToolRegistry } from './tool-registry.ts';
import { createWriteFileTool } from './write-file-tool.ts';

async function call(
  tool: RegisteredTool,
  environment: ExecutionEnvironment,
  args: JsonObject,
  limits: Partial<ToolContext['limits']> = {},
): Promise<Exclude<ToolOutput, string>> {
  const output = await tool.executor(args, {
    environment,
    signal: new AbortController().signal,
    callId: 'call',
    sessionId: 'session',
    onUpdate: () => {},
    limits: { defaultCommandTimeoutMs: undefined, maxCommandTimeoutMs: 600_000, ...limits },
  });
  return typeof output === 'string' ? { content: output } : output;
}

/** The methods of an environment, which use its private fields, for an object that replaces some of them. */
const boundMethods = (environment: ExecutionEnvironment): Partial<ExecutionEnvironment> => ({
  workingDirectory: () => environment.workingDirectory(),
  platform: () => environment.platform(),
  stat: (file) => environment.stat(file),
});

const shell = createShellTool({ defaultTimeoutMs: 10_000, nonZeroExitIsError: true });
const grep = createGrepTool({ outputModes: true });

test.concurrent('read_file numbers the lines and says where to continue', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'one\r\ntwo\nthree\n');
  const read = (args: JsonObject) => call(readFileTool, place.environment, { file_path: 'a', ...args });
  expect((await read({})).content).toBe('1 | one\n2 | two\n3 | three');
  expect((await read({ offset: 2, limit: 1 })).content).toBe(
    '2 | two\n(lines 2 to 2 of 3; continue with offset=3)',
  );
  await expect(read({ offset: 4 })).rejects.toThrow('a has 3 lines. There is no line 4.');
  await writeFile(place.path('a'), '');
  expect((await read({})).content).toBe('(a is empty)');
});

test.concurrent('read_file reads only a window of a large file, at its start, in it and at its end', async () => {
  await using place = await temporaryEnvironment();
  const lines = Array.from({ length: 300_000 }, (_line, index) => `line ${index + 1} é`);
  await writeFile(place.path('large'), `${lines.join('\r\n')}\r\n`);
  const ranges: number[] = [];
  const environment: ExecutionEnvironment = Object.assign(Object.create(place.environment), {
    ...boundMethods(place.environment),
    readBytes: () => Promise.reject(new Error('the whole file was read')),
    readRange: (file: string, offset: number, length: number) => {
      ranges.push(offset);
      return place.environment.readRange(file, offset, length);
    },
  });
  const read = async (offset: number, limit: number) =>
    (await call(readFileTool, environment, { file_path: 'large', offset, limit })).content;
  expect(await read(1, 2)).toBe(
    '1 | line 1 é\n2 | line 2 é\n(lines 1 to 2; the file goes on; continue with offset=3)',
  );
  expect(ranges).toEqual([0]);
  expect(await read(200_000, 1)).toMatch(/^200000 \| line 200000 é\n\(lines 200000 to 200000;/);
  expect(await read(299_999, 10)).toBe('299999 | line 299999 é\n300000 | line 300000 é');
  await expect(read(300_001, 1)).rejects.toThrow('large has 300000 lines. There is no line 300001.');
});

test.runIf(existsSync('/proc/kmsg'))(
  'read_file of a file that never ends gives what is there, or an error, and does not wait',
  { tags: 'root' },
  async () => {
    await using place = await temporaryEnvironment();
    const read = call(readFileTool, place.environment, { file_path: '/proc/kmsg' });
    await expect(
      read.then(
        () => 'read',
        () => 'refused',
      ),
    ).resolves.toMatch(/read|refused/);
    const { content } = await call(readFileTool, place.environment, { file_path: '/proc/self/status' });
    expect(content).toMatch(/Pid:/);
  },
);

test.concurrent('read_file gives images as images and refuses other binaries, folders and what is not there', async () => {
  await using place = await temporaryEnvironment();
  const read = (file_path: string) => call(readFileTool, place.environment, { file_path });
  const png = Buffer.from('89504e470d0a1a0a00', 'hex');
  await writeFile(place.path('a.png'), png);
  expect((await read('a.png')).content).toEqual([
    { type: 'image', mediaType: 'image/png', data: png.toString('base64') },
  ]);
  await writeFile(place.path('a.bin'), 'x\0y');
  await expect(read('a.bin')).rejects.toThrow(/binary file \(3 bytes\)/);
  await writeFile(place.path('wide.txt'), Buffer.from('\ufeffhej', 'utf16le'));
  expect((await read('wide.txt')).content).toBe('1 | hej');
  await expect(read('.')).rejects.toThrow(/is a directory/);
  await expect(read('absent')).rejects.toThrow(/File not found: absent/);
});

test.concurrent('edit_file shows the lines of the file where it cannot translate the indentation', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a.py'), 'x = 1\n\tif x:\n\t\tgo()\n');
  const edit = { file_path: 'a.py', old_string: '  if x:\n      go()', new_string: '  if x:\n   stop()' };
  await expect(call(createEditFileTool(), place.environment, edit)).rejects.toThrow(
    /lines 2 to 3\).*another indentation.*:\n\tif x:\n\t\tgo\(\)$/,
  );
  expect(await readFile(place.path('a.py'), 'utf8')).toBe('x = 1\n\tif x:\n\t\tgo()\n');
});

test.concurrent('edit_file changes one place, says how it matched, and refuses what is unclear', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), '\ufeffone\r\n  two\r\ntwo!\r\n');
  const edit = (old_string: string, new_string: string, more: JsonObject = {}) =>
    call(createEditFileTool(), place.environment, { file_path: 'a', old_string, new_string, ...more });
  expect((await edit('one\n  two', 'ONE\n  TWO')).content).toBe(
    'Replaced 1 occurrence in a. The match ignored differences in line ends.',
  );
  expect(await readFile(place.path('a'), 'utf8')).toBe('\ufeffONE\r\n  TWO\r\ntwo!\r\n');
  await expect(edit('O', 'x')).rejects.toThrow(/occurs 2 times in a\. Include neighbouring lines/);
  expect((await edit('O', 'o', { replace_all: true })).content).toMatch(/^Replaced 2 occurrences/);
  await expect(edit('nope', 'x')).rejects.toThrow(/was not found in a/);
  await expect(edit('', 'x')).rejects.toThrow(/use write_file/);
  await expect(edit('x', 'x')).rejects.toThrow(/are the same/);
});

test.concurrent('edit_file that quotes the byte order mark keeps one, or takes it away', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), '\ufeffone\ntwo\n');
  const edit = (old_string: string, new_string: string) =>
    call(createEditFileTool(), place.environment, { file_path: 'a', old_string, new_string });
  expect((await edit('\ufeffone', '\ufeffONE')).content).toBe('Replaced 1 occurrence in a.');
  expect(await readFile(place.path('a'), 'utf8')).toBe('\ufeffONE\ntwo\n');
  await edit('\ufeffONE', 'one');
  expect(await readFile(place.path('a'), 'utf8')).toBe('one\ntwo\n');
});

test.concurrent('write_file creates folders and reports bytes', async () => {
  await using place = await temporaryEnvironment();
  const write = (content: string) =>
    call(createWriteFileTool(), place.environment, { file_path: 'x/y/a', content });
  expect((await write('é')).content).toBe('Wrote 2 bytes to x/y/a (new file).');
  expect((await write('two')).content).toBe('Wrote 3 bytes to x/y/a (replaced).');
  expect(await readFile(place.path('x/y/a'), 'utf8')).toBe('two');
  const overFolder = call(createWriteFileTool(), place.environment, { file_path: 'x', content: '' });
  await expect(overFolder).rejects.toThrow('x: is a directory');
});

test.concurrent('shell reports exit code and output, and a timeout with what to do', async () => {
  await using place = await temporaryEnvironment();
  const failed = await call(shell, place.environment, { command: 'echo out; echo err >&2; exit 4' });
  expect(failed.content).toMatch(/^Exit code: 4\nDuration: \d+\.\d s\nOutput:\nout\nerr$/);
  expect(failed).toMatchObject({ isError: true, details: { exitCode: 4, timedOut: false } });
  const slow = await call(shell, place.environment, { command: 'echo partly; sleep 60', timeout_ms: 200 });
  expect(slow.content).toMatch(
    /partly\n\[ERROR: Command timed out after 200ms\. Partial output is shown above\./,
  );
  expect(slow.isError).toBe(true);
});

test.concurrent("a command's time: the call beats the host, the host beats the profile, the maximum beats all", async () => {
  await using place = await temporaryEnvironment();
  const quick = createShellTool({ defaultTimeoutMs: 60_000, nonZeroExitIsError: false });
  const sleep = { command: 'sleep 60' };
  const timedOut = (output: Exclude<ToolOutput, string>) =>
    /timed out after (\d+)ms/.exec(String(output.content))?.[1];
  const host = { defaultCommandTimeoutMs: 150 };
  expect(timedOut(await call(quick, place.environment, sleep, host))).toBe('150');
  expect(timedOut(await call(quick, place.environment, { ...sleep, timeout_ms: 120 }, host))).toBe('120');
  expect(timedOut(await call(quick, place.environment, sleep, { maxCommandTimeoutMs: 100 }))).toBe('100');
});

test.concurrent('grep shows paths as the model would write them', async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('src'));
  await writeFile(place.path('src/a.ts'), `needle\n${'x'.repeat(600)}needle\n`);
  const run = async (args: JsonObject) =>
    (await call(grep, place.environment, { pattern: 'needle', ...args })).content;
  expect(await run({ path: 'src', max_results: 1 })).toBe(
    'src/a.ts:1:needle\n(more than 1 results; narrow the search or raise max_results)',
  );
  expect(await run({ path: 'src/a.ts', output_mode: 'count' })).toBe('src/a.ts:2');
  expect(await run({})).toMatch(/\[line cut\]$/);
  expect(await run({ pattern: 'absent' })).toBe('No matches found.');
  await expect(run({ pattern: '(' })).rejects.toThrow(/^Invalid pattern: /);
  await expect(run({ path: 'nowhere' })).rejects.toThrow('Path not found: nowhere');
});

test.concurrent('glob lists the newest first', async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('src'));
  for (const [index, name] of ['src/old.ts', 'src/new.ts', 'mid.ts', 'other.js'].entries()) {
    await writeFile(place.path(name), '');
    const time = new Date(Date.UTC(2020, 0, [1, 3, 2, 4][index]));
    await utimes(place.path(name), time, time);
  }
  const run = async (args: JsonObject) => (await call(globTool, place.environment, args)).content;
  expect(await run({ pattern: '**/*.ts' })).toBe('src/new.ts\nmid.ts\nsrc/old.ts');
  expect(await run({ pattern: `${place.directory}/*.ts` })).toBe('mid.ts');
  expect(await run({ pattern: '*.ts', path: 'src' })).toBe('src/new.ts\nsrc/old.ts');
  expect(await run({ pattern: '*.py' })).toBe('No files found.');
});

test.concurrent('list_dir shows levels, folders before their entries', async () => {
  await using place = await temporaryEnvironment();
  await mkdir(place.path('a/b/c'), { recursive: true });
  for (const name of ['a/b/deep.txt', 'a/near.txt', 'z.log', '.gitignore'])
    await writeFile(place.path(name), '');
  await writeFile(place.path('.gitignore'), '*.log\n');
  const run = async (args: JsonObject) => (await call(listDirectoryTool, place.environment, args)).content;
  expect(await run({})).toBe('.gitignore\na/');
  expect(await run({ depth: 2 })).toBe('.gitignore\na/\na/b/\na/near.txt');
  expect(await run({ path: 'a', depth: 9 })).toBe('b/\nb/c/\nb/deep.txt\nnear.txt');
  expect(await run({ path: 'a/b/c' })).toBe('(a/b/c is empty)');
  await expect(run({ path: 'z.log' })).rejects.toThrow('Not a directory: z.log');
});

test.concurrent('a command that falls silent is ended where the profile says so', async () => {
  await using place = await temporaryEnvironment();
  const tool = createShellTool({ inactivityTimeoutMs: 300, nonZeroExitIsError: false });
  const silent = await call(tool, place.environment, { command: 'echo once; sleep 600' });
  expect(silent.content).toMatch(/once\n\[ERROR: Command was ended after 300ms without output/);
  expect(silent.isError).toBe(true);
  const busy = await call(tool, place.environment, {
    command: 'for i in 1 2 3 4 5 6; do echo $i; sleep 0.1; done',
  });
  expect(busy).toMatchObject({ isError: false, details: { exitCode: 0, timedOut: false } });
});

test.concurrent('apply_patch lists the files by letter, and a refusal is an error result', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a'), 'x\n');
  const tool = applyPatchTool;
  const patch = '*** Begin Patch\n*** Delete File: a\n*** Add File: b\n+1\n*** End Patch';
  const done = await call(tool, place.environment, { patch });
  expect(done.content).toBe('Success. Updated the following files:\nA b\nD a');
  const again = await call(tool, place.environment, { patch });
  expect(again.isError).toBe(true);
  expect(again.content).toMatch(/^apply_patch verification failed: File not found: a/);
});

test.concurrent('changes to one file wait for each other, whatever its name; others do not', async () => {
  await using place = await temporaryEnvironment();
  const log: string[] = [];
  const entered = Promise.withResolvers<void>();
  const gate = Promise.withResolvers<void>();
  const first = withFileLocks(place.environment, ['a', 'b'], async () => {
    log.push('first');
    entered.resolve();
    await gate.promise;
    log.push('first ends');
  });
  await entered.promise;
  const second = withFileLocks(
    place.environment,
    [place.path('x/../a')],
    async () => void log.push('second'),
  );
  await withFileLocks(place.environment, ['c'], async () => void log.push('other'));
  gate.resolve();
  await Promise.all([first, second]);
  expect(log).toEqual(['first', 'other', 'first ends', 'second']);
});

test.concurrent('the registry: the latest of a name wins and keeps the place, and names are checked', () => {
  const registry = new ToolRegistry([readFileTool, globTool]);
  const other = { ...globTool, guidance: 'mine' };
  registry.register({ ...other, definition: { ...other.definition, name: 'read_file' } });
  expect(registry.names()).toEqual(['read_file', 'glob']);
  expect(registry.get('read_file')?.guidance).toBe('mine');
  expect(registry.unregister('glob')).toBe(true);
  expect(registry.unregister('glob')).toBe(false);
  expect(registry.definitions().map((definition) => definition.name)).toEqual(['read_file']);
  const bad = { ...other, definition: { ...other.definition, name: 'no spaces' } };
  expect(() => registry.register(bad)).toThrow(TypeError);
});
