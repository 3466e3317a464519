import { present } from '@whetstone/events/present';
/**
 * An agent without a model: it reads its prompt from standard input to the end, notes what it sees around it, and plays
 * the scene that the prompt names. Arguments: a format, and whatever its adapter passes.
 */
import { spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import {
  appendFileSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync, writeFileSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { closeAppServer, openAppServer } from './fake-app-server.ts';
import { bubTape, type Format, formats } from './formats.ts';
import { answerSchema, type Scene, type Seen } from './scene.ts';

const FLOOD_BYTES = 200 * 1024 * 1024;

const [format = 'text', ...given] = process.argv.slice(2);
// Two kinds run the same program.
const isServer = given.includes('app-server');
const formatName = isServer ? 'codex-app-server' : format;
const server = isServer ? openAppServer() : undefined;
const args = [...given, ...(server?.args ?? [])];
const promptFile = args[args.indexOf('--prompt-file') + 1];
const prompt =
  server?.prompt ?? readFileSync(args.includes('--prompt-file') && promptFile ? promptFile : 0, 'utf8');
const { scene, token } = JSON.parse(prompt.slice(prompt.indexOf('{'), prompt.indexOf('}') + 1)) as Scene;

const home = process.env.HOME ?? '';
const sessions = join(home, '.fake-sessions');
const resumed = args.find((arg) => /^[\w-]+$/.test(arg) && existsSync(join(sessions, arg)));
const named = args.includes('--session-id') ? args[args.indexOf('--session-id') + 1] : undefined;
const session = resumed ?? named ?? randomUUID();

const seen: Seen = {
  args,
  environment: { ...process.env } as Record<string, string>,
  workingDirectory: process.cwd(),
  homeDirectory: homedir(),
  filesAtHome: readdirSync(home, { recursive: true, encoding: 'utf8' }),
  // At the end of a pipe or of /dev/null, a second read gives nothing; at a terminal it would wait.
  ...(!server && { standardInput: readFileSync(0, 'utf8') }),
  isTerminal: process.stdin.isTTY === true,
  session,
  ...present({ resumed }),
};
writeFileSync(`seen-${token}.json`, JSON.stringify(seen));
mkdirSync(sessions, { recursive: true });
const turns = resumed === undefined ? 1 : Number(readFileSync(join(sessions, session), 'utf8')) + 1;
writeFileSync(join(sessions, session), String(turns));

await play();
if (server) closeAppServer();

async function play(): Promise<void> {
  const { begin, work, done, failed, answer } = printer();
  const secret = process.env.CONTRACT_SECRET ?? 'nothing';
  begin();
  switch (scene) {
    case 'task':
      writeFileSync('made.txt', `${token}\n`);
      work('I look around.', 'printenv CONTRACT_SECRET', `${token} ${secret}`);
      process.stderr.write(`warning: ${secret}\n`);
      return done(`Done ${token}.`);
    case 'failure':
      failed('Out of luck.');
      // An exit code can be wrong, but plain text has no other way to report a failure.
      process.exitCode = formatName in formats ? 0 : 4;
      return;
    case 'structured output':
      return isHeldToSchema() ? answer({ answer: token }) : done('Nobody asked for a shape.');
    case 'crash before its last word':
      work('I look around.', 'ls', token);
      process.stderr.write('it broke\n');
      return process.exit(3);
    case 'crash after its last word':
      done(`Done ${token}.`);
      return process.exit(3);
    case 'hang':
      work('I wait.', 'sleep 600', '');
      return await hang();
    case 'garbled output':
      await garble();
      return done(`Done ${token}, naïvely.`);
    case 'flood':
      return flood(work, done);
  }
}

/** The released agents get a file, a file after an `@`, or the schema itself. */
function isHeldToSchema(): boolean {
  const value = args[args.findIndex((arg) => arg === '--output-schema' || arg === '--json-schema') + 1] ?? '';
  const text = value.startsWith('{') ? value : readFileSync(value.replace(/^@/, ''), 'utf8');
  return isDeepStrictEqual(JSON.parse(text), answerSchema);
}

function printer(): {
  begin(): void;
  work(said: string, command: string, output: string): void;
  done(said: string): void;
  failed(message: string): void;
  answer(data: object): void;
} {
  if (Object.hasOwn(formats, formatName)) {
    const format: Format = formats[formatName as keyof typeof formats];
    const put = (items: object[]): void => printLines(items.map((item) => JSON.stringify(item)));
    return {
      begin: () => put(format.begin(session)),
      work: (said, command, output) => put(format.work(session, said, command, output)),
      done: (said) => put(format.done(session, said, turns)),
      failed: (message) => put(format.failed(session, message)),
      answer: (data) => put(format.answer?.(session, data, turns) ?? []),
    };
  }
  const keep = (items: object[]): void => {
    if (formatName !== 'bub') return;
    mkdirSync(join(home, '.bub/tapes'), { recursive: true });
    const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('');
    appendFileSync(join(home, '.bub/tapes/workspace__session.jsonl'), lines);
  };
  return {
    begin: () => keep(bubTape.begin(session)),
    work(said, command, output) {
      printLines([said, `$ ${command}`, output]);
      keep(bubTape.work(session, said, command, output));
    },
    done(said) {
      printLines([said]);
      keep(bubTape.done(session, said));
    },
    failed(message) {
      process.stderr.write(`${message}\n`);
      keep(bubTape.failed(session, message));
    },
    answer: () => {},
  };
}

function printLines(lines: readonly string[]): void {
  print(Buffer.from(lines.map((line) => `${line}\n`).join('')));
}

/** Writes synchronously, so that output from before a crash is not lost. */
function print(bytes: Buffer): void {
  for (let written = 0; written < bytes.length; ) {
    try {
      written += writeSync(1, bytes, written);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EAGAIN') throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 1); // the pipe is full
    }
  }
}

/** Hangs with children that would outlive this process; one of them ignores SIGTERM. */
async function hang(): Promise<void> {
  const marker = `hanging in ${process.cwd()}`;
  spawn('sleep', ['600'], { argv0: marker, stdio: 'ignore', detached: true });
  const deaf = spawn('sh', ['-c', 'trap "" TERM; echo deaf; while :; do sleep 1; done', marker], {
    stdio: ['ignore', 'pipe', 'ignore'],
    detached: true,
  });
  await new Promise((resolve) => deaf.stdout?.once('data', resolve));
  // The rename makes the whole file appear at once, because a test reads it right away.
  writeFileSync(`hanging-${token}.new`, marker);
  renameSync(`hanging-${token}.new`, `hanging-${token}`);
  await new Promise((resolve) => setTimeout(resolve, 600_000));
}

/** Prints a long line, lines that are not JSON, JSON that is not an event, and bytes that are not UTF-8. */
async function garble(): Promise<void> {
  printLines([`{"type":"${'x'.repeat(256 * 1024)}"}`]);
  printLines(['no JSON at all', '{"type":"cut off', '[1,2]', 'null', '"text"', '{"type":12}', '{}', '', '\r']);
  print(Buffer.from([0xff, 0xfe, 0x80, 0x00, 0x0a]));
  // The bytes of one character arrive one by one.
  for (const byte of Buffer.from('naïve\n')) {
    print(Buffer.from([byte]));
    await pause(2);
  }
}

function flood(
  work: (said: string, command: string, output: string) => void,
  done: (said: string) => void,
): void {
  const output = 'flood '.repeat(11_000);
  for (let bytes = 0; bytes < FLOOD_BYTES; bytes += output.length) work('More.', 'yes flood', output);
  done(`Done ${token}.`);
}
