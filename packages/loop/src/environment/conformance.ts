import assert from 'node:assert/strict';
import { setTimeout as delay } from 'node:timers/promises';
import { pathsOf } from './environment-path.ts';
import type { ExecutionEnvironment } from './execution-environment.ts';

/** One check of the `ExecutionEnvironment` contract, for any test runner. This file is `@whetstone/loop/test`. */
export type ConformanceCheck = {
  name: string;
  /**
   * Which environments have to pass:
   * - `files`: every environment.
   * - `commands`: where `exec` runs a POSIX shell.
   * - `background`: where there is `start`.
   * - `connections`: where there is `connect`.
   * - `outputs`: where there is `outputDirectory`.
   */
  area: 'files' | 'commands' | 'background' | 'connections' | 'outputs';
  /**
   * Rejects with an `AssertionError` where the environment breaks the contract. Call it with a fresh environment whose
   * working folder is empty, and clean the environment up afterwards.
   */
  run: (environment: ExecutionEnvironment) => Promise<void>;
};

const encode = (text: string) => new TextEncoder().encode(text);
const readText = async (environment: ExecutionEnvironment, path: string) =>
  new TextDecoder().decode(await environment.readBytes(path));

async function rejectsWith(work: Promise<unknown>, ...codes: string[]): Promise<void> {
  await assert.rejects(work, (error: NodeJS.ErrnoException) => {
    assert.ok(error instanceof Error, 'what is thrown is an Error');
    assert.ok(codes.includes(error.code ?? ''), `code ${error.code} is one of ${codes.join(', ')}`);
    return true;
  });
}

/** Waits for a condition, not for a time; gives up after half a minute. */
async function eventually(holds: () => Promise<boolean>, what: string): Promise<void> {
  const deadline = performance.now() + 30_000;
  while (!(await holds())) {
    assert.ok(performance.now() < deadline, what);
    await delay(20);
  }
}

type Checks = Record<string, ConformanceCheck['run']>;

const files: Checks = {
  'bytes come back as they were written, whatever they are': async (environment) => {
    const bytes = Uint8Array.from({ length: 1024 }, (_byte, index) => index % 256);
    await environment.writeBytes('bytes', bytes);
    assert.deepEqual([...(await environment.readBytes('bytes'))], [...bytes]);
    await environment.writeBytes('empty', new Uint8Array());
    assert.equal((await environment.readBytes('empty')).length, 0);
  },
  'a write creates the folders and replaces the whole content': async (environment) => {
    await environment.writeBytes('a/b/c', encode('long content'));
    await environment.writeBytes('a/b/c', encode('short'));
    assert.equal(await readText(environment, 'a/b/c'), 'short');
  },
  'what was written is not changed by a later change of the array': async (environment) => {
    const bytes = encode('one');
    await environment.writeBytes('a', bytes);
    bytes.fill(0);
    assert.equal(await readText(environment, 'a'), 'one');
  },
  'relative paths count from the working folder': async (environment) => {
    const paths = pathsOf(environment);
    assert.ok(paths.isAbsolute(environment.workingDirectory()));
    await environment.writeBytes('a/b', encode('x'));
    const absolute = paths.join(environment.workingDirectory(), 'a', 'b');
    assert.equal(await readText(environment, absolute), 'x');
    assert.equal(await readText(environment, 'a/../a/./b'), 'x');
  },
  'names may hold blanks, quotes, dashes and any letters': async (environment) => {
    const names = ['with blank', "it's", '"quoted"', '-dash', 'ünï cödé 日本', '$HOME', 'a;b'];
    for (const name of names) await environment.writeBytes(`n/${name}`, encode(name));
    const entries = await environment.listDirectory('n');
    assert.deepEqual(entries.map((entry) => entry.name).toSorted(), names.toSorted());
    for (const name of names) assert.equal(await readText(environment, `n/${name}`), name);
  },
  'reading what is not there, or is a folder, rejects with a code': async (environment) => {
    await environment.mkdirp('folder');
    await rejectsWith(environment.readBytes('absent'), 'ENOENT');
    await rejectsWith(environment.readBytes('absent/deeper'), 'ENOENT', 'ENOTDIR');
    await rejectsWith(environment.readBytes('folder'), 'EISDIR');
    await rejectsWith(environment.writeBytes('folder', encode('x')), 'EISDIR');
  },
  'stat distinguishes files, folders and what does not exist': async (environment) => {
    await environment.writeBytes('a/file', encode('12345'));
    const file = await environment.stat('a/file');
    assert.equal(file?.kind, 'file');
    assert.equal(file.size, 5);
    assert.ok(Number.isFinite(file.modifiedMs) && file.modifiedMs > Date.UTC(2020));
    assert.equal((await environment.stat('a'))?.kind, 'directory');
    assert.equal((await environment.stat('.'))?.kind, 'directory');
    assert.equal(await environment.stat('absent'), undefined);
    assert.equal(await environment.stat('a/file/below'), undefined);
  },
  'permission bits are kept where the file system has them': async (environment) => {
    await environment.writeBytes('tool', encode('#!/bin/sh\n'), { mode: 0o755 });
    const mode = (await environment.stat('tool'))?.mode;
    if (mode !== undefined) assert.equal(mode & 0o700, 0o700);
  },
  'remove takes only files': async (environment) => {
    await environment.writeBytes('folder/file', encode('x'));
    await environment.remove('folder/file');
    assert.equal(await environment.stat('folder/file'), undefined);
    await rejectsWith(environment.remove('folder/file'), 'ENOENT');
    await assert.rejects(environment.remove('folder'));
    assert.equal((await environment.stat('folder'))?.kind, 'directory');
  },
  'a range is a part of the file, fewer bytes only at its end': async (environment) => {
    const readRange = environment.readRange?.bind(environment);
    if (!readRange) return;
    await environment.writeBytes('letters', encode('abcdef'));
    const read = async (offset: number, length: number) =>
      new TextDecoder().decode(await readRange('letters', offset, length));
    assert.deepEqual([await read(0, 2), await read(4, 9), await read(6, 1)], ['ab', 'ef', '']);
    await rejectsWith(readRange('absent', 0, 1), 'ENOENT');
  },
  'an empty folder can be removed, another cannot': async (environment) => {
    if (!environment.removeDirectory) return;
    await environment.writeBytes('a/b/file', encode('x'));
    await assert.rejects(environment.removeDirectory('a'));
    await environment.remove('a/b/file');
    await environment.removeDirectory('a/b');
    assert.deepEqual(await environment.listDirectory('a'), []);
  },
  'a copy of the attributes is an empty file that takes the place of the first': async (environment) => {
    await environment.writeBytes('tool', encode('old'), { mode: 0o755 });
    const before = await environment.stat('tool');
    if (!(await environment.copyAttributes?.('tool', 'copy'))) return;
    assert.equal(await readText(environment, 'copy'), '');
    await environment.writeBytes('copy', encode('new'));
    await environment.rename('copy', 'tool');
    assert.equal(await readText(environment, 'tool'), 'new');
    assert.equal((await environment.stat('tool'))?.mode, before?.mode);
  },
  'rename moves a file over another': async (environment) => {
    await environment.writeBytes('from', encode('new'));
    await environment.writeBytes('to/file', encode('old'));
    await environment.rename('from', 'to/file');
    assert.equal(await readText(environment, 'to/file'), 'new');
    assert.equal(await environment.stat('from'), undefined);
    await rejectsWith(environment.rename('absent', 'x'), 'ENOENT');
  },
  'mkdirp creates parents and accepts an existing folder': async (environment) => {
    await environment.mkdirp('a/b/c');
    await environment.mkdirp('a/b/c');
    assert.equal((await environment.stat('a/b/c'))?.kind, 'directory');
    await environment.writeBytes('file', encode('x'));
    await assert.rejects(environment.mkdirp('file'));
  },
  'realpath is absolute, unique per file, and rejects for what does not exist': async (environment) => {
    await environment.writeBytes('a/file', encode('x'));
    const real = await environment.realpath('a/file');
    assert.ok(pathsOf(environment).isAbsolute(real));
    assert.equal(await environment.realpath('a/../a/file'), real);
    assert.equal(await environment.realpath(real), real);
    await rejectsWith(environment.realpath('absent'), 'ENOENT');
  },
  'a folder lists only its own entries': async (environment) => {
    await environment.writeBytes('f/one', encode('x'));
    await environment.writeBytes('f/.hidden', encode('x'));
    await environment.writeBytes('f/deep/two', encode('x'));
    const entries = await environment.listDirectory('f');
    const found = entries.map(({ name, kind }) => `${kind} ${name}`);
    assert.deepEqual(found.toSorted(), ['directory deep', 'file .hidden', 'file one']);
    await rejectsWith(environment.listDirectory('absent'), 'ENOENT');
    await rejectsWith(environment.listDirectory('f/one'), 'ENOTDIR');
  },
};

const commands: Checks = {
  'a command gives its output, its errors and its exit code': async (environment) => {
    const result = await environment.exec('echo out; echo err >&2; exit 3');
    assert.equal(result.stdout, 'out\n');
    assert.equal(result.stderr, 'err\n');
    assert.equal(result.exitCode, 3);
    assert.deepEqual([result.timedOut, result.aborted, result.droppedBytes], [false, false, 0]);
    assert.ok(result.durationMs >= 0);
  },
  'a list of arguments sees no shell': async (environment) => {
    const result = await environment.exec(['printf', '%s|', '$HOME', '`id`', "it's", 'a b']);
    assert.equal(result.stdout, "$HOME|`id`|it's|a b|");
  },
  'commands start in the working folder, or in a given one': async (environment) => {
    await environment.mkdirp('sub');
    assert.equal((await environment.exec('pwd -P')).stdout.trim(), await environment.realpath('.'));
    const result = await environment.exec('pwd -P', { workingDirectory: 'sub' });
    assert.equal(result.stdout.trim(), await environment.realpath('sub'));
  },
  'commands and file operations see the same files': async (environment) => {
    await environment.writeBytes('in', encode('from the host'));
    await environment.exec('cp in out; printf more >> out');
    assert.equal(await readText(environment, 'out'), 'from the hostmore');
  },
  'variables of a call reach its command': async (environment) => {
    const env = { WHETSTONE_CHECK: 'a b' };
    assert.equal((await environment.exec('printf %s "$WHETSTONE_CHECK"', { env })).stdout, 'a b');
  },
  'standard input is at its end': async (environment) => {
    assert.equal((await environment.exec('cat; echo end')).stdout, 'end\n');
  },
  'a program that does not exist is an error or the shell’s 127': async (environment) => {
    assert.equal((await environment.exec('no-such-program-here')).exitCode, 127);
    const result = await environment.exec(['no-such-program-here']).catch(() => undefined);
    assert.notEqual(result?.exitCode, 0);
  },
  'output comes while the command runs, characters whole': async (environment) => {
    const seen: string[] = [];
    const onOutput = ({ text }: { text: string }) => void seen.push(text);
    const result = await environment.exec("printf 'é€😀'; printf 'x' >&2", { onOutput });
    assert.equal([...seen.join('')].toSorted().join(''), [...'é€😀x'].toSorted().join(''));
    assert.equal(result.stdout, 'é€😀');
  },
  'output is bounded and says what it lost': async (environment) => {
    const result = await environment.exec("head -c 8000000 /dev/zero | tr '\\0' 'x' | sed 's/xx/é/g'");
    assert.ok(result.droppedBytes > 0);
    assert.ok(result.stdout.length < 5_000_000);
    assert.ok(!result.stdout.includes('\ufffd'));
  },
  'a timeout ends the command and what it started': async (environment) => {
    const command = `sh -c '${beat('beats')}' & echo started; wait`;
    const result = await environment.exec(command, { timeoutMs: 1_000 });
    assert.equal(result.timedOut, true);
    assert.equal(result.stdout, 'started\n');
    await assertEnded(environment, 'beats');
  },
  'what a command has left running ends with its owner': async (environment) => {
    await environment.exec(`echo x > beats; (${beat('beats')}) > /dev/null 2>&1 &`, { owner: 'a' });
    await environment.endCommandsOf?.('a');
    await assertEnded(environment, 'beats');
  },
  'silence ends the command where a limit is set': async (environment) => {
    const result = await environment.exec('echo once; sleep 600', { inactivityTimeoutMs: 500 });
    assert.equal(result.timedOut, true);
    assert.equal(result.stdout, 'once\n');
  },
  'an abort ends the command, also before it starts': async (environment) => {
    const controller = new AbortController();
    const running = environment.exec(beat('beats'), { signal: controller.signal });
    await assertBeating(environment, 'beats');
    controller.abort();
    assert.equal((await running).aborted, true);
    await assertEnded(environment, 'beats');
    assert.equal((await environment.exec('sleep 600', { signal: AbortSignal.abort() })).aborted, true);
  },
};

/** A command that writes to a file again and again. Process numbers would mean nothing in another namespace. */
const beat = (file: string) => `while :; do echo x >> ${file}; sleep 0.05; done`;
const BEATS_MS = 500;

const sizeOf = async (environment: ExecutionEnvironment, file: string) =>
  (await environment.stat(file))?.size ?? 0;

async function assertBeating(environment: ExecutionEnvironment, file: string): Promise<void> {
  await eventually(async () => (await sizeOf(environment, file)) > 0, 'the command has started');
}

/** Nothing writes to the file any more. */
async function assertEnded(environment: ExecutionEnvironment, file: string): Promise<void> {
  await eventually(async () => {
    const before = await sizeOf(environment, file);
    await delay(BEATS_MS);
    return before === (await sizeOf(environment, file));
  }, `what writes to ${file} has ended`);
}

async function started(environment: ExecutionEnvironment, command: string, outputFile?: string) {
  assert.ok(environment.start, 'the environment has start()');
  return await environment.start(command, outputFile === undefined ? {} : { outputFile });
}

const background: Checks = {
  'a process is polled, each output once, until it exits': async (environment) => {
    const process = await started(environment, 'echo one; read line; echo "got $line"; exit 4');
    let output = '';
    await eventually(async () => {
      output += (await process.poll({ waitMs: 50 })).output;
      return output === 'one\n';
    }, 'the first line has come');
    assert.equal(process.state.kind, 'running');
    await process.write('two\n');
    const last = await process.poll({ waitMs: 30_000 });
    assert.equal(last.output, 'got two\n');
    assert.deepEqual(last.state, { kind: 'exited', exitCode: 4 });
    assert.deepEqual(await process.poll(), { output: '', droppedBytes: 0, state: last.state });
    await assert.rejects(process.write('late\n'));
    await process.kill();
  },
  'a poll ends with its signal': async (environment) => {
    const process = await started(environment, 'sleep 600');
    const poll = await process.poll({ waitMs: 600_000, signal: AbortSignal.timeout(50) });
    assert.equal(poll.state.kind, 'running');
    await process.kill();
  },
  'a kill ends the whole tree': async (environment) => {
    const process = await started(environment, `sh -c '${beat('beats')}' & wait`);
    await assertBeating(environment, 'beats');
    await process.kill();
    assert.equal(process.state.kind, 'exited');
    await assertEnded(environment, 'beats');
  },
  'cleanup ends what still runs': async (environment) => {
    const process = await started(environment, 'sleep 600');
    await environment.cleanup?.();
    await eventually(async () => process.state.kind === 'exited', 'the process has ended');
  },
  'output goes to a file as it comes': async (environment) => {
    const process = await started(environment, 'echo to the file; sleep 600', 'out.log');
    const isThere = async () => (await readText(environment, 'out.log')) === 'to the file\n';
    await eventually(isThere, 'the file has it');
    await process.kill();
  },
};

/** A shell script with its output so far. */
async function connected(environment: ExecutionEnvironment, script: string) {
  assert.ok(environment.connect, 'the environment has connect()');
  const output = { stdout: '', stderr: '' };
  const collect = (stream: keyof typeof output) => (chunk: Uint8Array) => {
    output[stream] += new TextDecoder().decode(chunk);
  };
  const process = await environment.connect(['sh', '-c', script], {
    env: { GREETING: 'hello' },
    onStdout: collect('stdout'),
    onStderr: collect('stderr'),
  });
  return { process, output };
}

const connections: Checks = {
  'a program is talked to, its two streams apart, until it exits': async (environment) => {
    const script = 'echo "$GREETING"; read line; echo "got $line"; echo bye >&2; exit 4';
    const { process, output } = await connected(environment, script);
    await eventually(async () => output.stdout === 'hello\n', 'the first line has come');
    await process.write('two\n');
    assert.deepEqual(await process.ended, { kind: 'exited', exitCode: 4 });
    assert.deepEqual(output, { stdout: 'hello\ngot two\n', stderr: 'bye\n' });
    await assert.rejects(process.write('late\n'));
    await process.kill();
  },
  'the kill of a program ends its whole tree': async (environment) => {
    const { process } = await connected(environment, `sh -c '${beat('beats')}' & wait`);
    await assertBeating(environment, 'beats');
    await process.kill();
    assert.equal((await process.ended).kind, 'exited');
    await assertEnded(environment, 'beats');
  },
  'cleanup ends a program that still runs': async (environment) => {
    const { process } = await connected(environment, 'sleep 600');
    await environment.cleanup?.();
    assert.equal((await process.ended).kind, 'exited');
  },
  'a program that does not exist is reported': async (environment) => {
    const unheard = { onStdout: () => {}, onStderr: () => {} };
    const ended = environment.connect?.(['no-such-program-here'], unheard).then((process) => process.ended);
    const refused = await Promise.resolve(ended).catch(() => 'refused');
    if (refused !== 'refused') assert.deepEqual(refused, { kind: 'exited', exitCode: 127 });
  },
};

const outputs: Checks = {
  'there is a folder for long outputs, outside of the project': async (environment) => {
    assert.ok(environment.outputDirectory, 'the environment has outputDirectory()');
    const folder = await environment.outputDirectory();
    const paths = pathsOf(environment);
    assert.ok(paths.isAbsolute(folder));
    assert.ok(paths.relative(environment.workingDirectory(), folder).startsWith('..'));
    await environment.writeBytes(paths.join(folder, 'a.txt'), encode('x'));
    assert.equal(await readText(environment, paths.join(folder, 'a.txt')), 'x');
    assert.equal(await environment.outputDirectory(), folder);
  },
};

const areas = { files, commands, background, connections, outputs };

/** All checks, grouped by area. */
export const conformanceChecks: readonly ConformanceCheck[] = Object.entries(areas).flatMap(
  ([area, checks]) =>
    Object.entries(checks).map(([name, run]) => ({ name, area: area as ConformanceCheck['area'], run })),
);
