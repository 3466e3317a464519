import { present } from '@whetstone/events/present';
import {
  appendFileSync,
  existsSync,
  fstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { bubTape, type Format, formats } from './formats.ts';
import { refusals } from './refusals.ts';
import { answerSchema, type Scene, type Seen } from './scene.ts';

const FLOOD_BYTES = 200 * 1024 * 1024;

/** What the agent prints: a message of its format, a line of text, or bytes. */
export type Printed = object | string | Buffer;

export type Played = {
  /** A key of `formats`, or another name for plain text. */
  formatName: string;
  /** What the adapter passes to the agent. */
  args: readonly string[];
  prompt: string;
  /** What is left of standard input after the prompt. */
  standardInput?: string;
};

/** An agent without a model: it notes what it sees around it, and plays the scene that the prompt names. */
export async function* playScene({ formatName, args, prompt, standardInput }: Played): AsyncGenerator<Printed> {
  const { scene, token } = JSON.parse(prompt.slice(prompt.indexOf('{'), prompt.indexOf('}') + 1)) as Scene;
  const { session, turns } = noteWhatIsSeen(token, args, standardInput);
  const { begin, work, done, failed, answer } = printer(formatName, session, turns);
  const secret = process.env.CONTRACT_SECRET ?? 'nothing';
  yield* begin();
  switch (scene) {
    case 'task':
      // A second turn in the workspace has a token of its own.
      writeFileSync(`made-${token}.txt`, `${token}\n`);
      yield* work('I look around.', 'printenv CONTRACT_SECRET', `${token} ${secret}`);
      printError(`warning: ${secret}`);
      return yield* done(`Done ${token}.`);
    case 'failure':
      yield* failed('Out of luck.');
      // An exit code can be wrong, but plain text has no other way to report a failure.
      process.exitCode = formatName in formats ? 0 : 4;
      return;
    case 'refusal':
      yield* refused(formatName, session);
      return yield* done(`Done ${token}.`);
    case 'structured output':
      return yield* isHeldToSchema(args) ? answer({ answer: token }) : done('Nobody asked for a shape.');
    case 'crash before its last word':
      yield* work('I look around.', 'ls', token);
      printError('it broke');
      return process.exit(3);
    case 'crash after its last word':
      yield* done(`Done ${token}.`);
      return process.exit(3);
    case 'hang':
      yield* work('I wait.', 'sleep 600', '');
      return await hang(token);
    case 'garbled output':
      yield* garble();
      return yield* done(`Done ${token}, naïvely.`);
    case 'flood': {
      const output = 'flood '.repeat(11_000);
      for (let bytes = 0; bytes < FLOOD_BYTES; bytes += output.length) yield* work('More.', 'yes flood', output);
      return yield* done(`Done ${token}.`);
    }
  }
}

/** What an agent asks its host, which is not a message of its stream. Its host waits for the answer. */
export class Question {
  readonly content: object;
  constructor(content: object) {
    this.content = content;
  }
}

function* refused(formatName: string, session: string): Generator<Printed> {
  const { before = [], question, after = [] } = refusals[formatName]?.(session) ?? {};
  yield* before;
  if (question) yield new Question(question);
  yield* after;
}

/** Also finds the session that an argument names. */
function noteWhatIsSeen(token: string, args: readonly string[], standardInput: string | undefined) {
  const home = process.env.HOME ?? '';
  const sessions = join(home, '.fake-sessions');
  const resumed = args.find((arg) => /^[\w-]+$/.test(arg) && existsSync(join(sessions, arg)));
  const named = args.includes('--session-id') ? args[args.indexOf('--session-id') + 1] : undefined;
  const session = resumed ?? named ?? newSessionId();
  const seen: Seen = {
    args: [...args],
    environment: { ...process.env } as Record<string, string>,
    workingDirectory: process.cwd(),
    homeDirectory: homedir(),
    filesAtHome: readdirSync(home, { recursive: true, encoding: 'utf8' }),
    isTerminal: fstatSync(0).isCharacterDevice() && process.stdin.isTTY === true,
    session,
    ...present({ resumed, standardInput }),
  };
  writeFileSync(`seen-${token}.json`, JSON.stringify(seen));
  mkdirSync(sessions, { recursive: true });
  const turns = resumed === undefined ? 1 : Number(readFileSync(join(sessions, session), 'utf8')) + 1;
  writeFileSync(join(sessions, session), String(turns));
  return { session, turns };
}

/** As a UUID. `node:crypto` would cost 7 ms of a process that starts hundreds of times. */
const newSessionId = (): string =>
  '########-####-4###-8###-############'.replace(/#/g, () => Math.floor(Math.random() * 16).toString(16));

/** The released agents get a file, a file after an `@`, or the schema itself. */
function isHeldToSchema(args: readonly string[]): boolean {
  const value = args[args.findIndex((arg) => arg === '--output-schema' || arg === '--json-schema') + 1] ?? '';
  const text = value.startsWith('{') ? value : readFileSync(value.replace(/^@/, ''), 'utf8');
  return isDeepStrictEqual(JSON.parse(text), answerSchema);
}

type Printer = {
  begin(): Printed[];
  work(said: string, command: string, output: string): Printed[];
  done(said: string): Printed[];
  failed(message: string): Printed[];
  answer(data: object): Printed[];
};

function printer(formatName: string, session: string, turns: number): Printer {
  if (Object.hasOwn(formats, formatName)) {
    const format: Format = formats[formatName as keyof typeof formats];
    return {
      begin: () => format.begin(session),
      work: (said, command, output) => format.work(session, said, command, output),
      done: (said) => format.done(session, said, turns),
      failed: (message) => format.failed(session, message),
      answer: (data) => format.answer?.(session, data, turns) ?? [],
    };
  }
  const home = process.env.HOME ?? '';
  const keep = (items: object[]): void => {
    if (formatName !== 'bub') return;
    mkdirSync(join(home, '.bub/tapes'), { recursive: true });
    const lines = items.map((item) => `${JSON.stringify(item)}\n`).join('');
    appendFileSync(join(home, '.bub/tapes/workspace__session.jsonl'), lines);
  };
  return {
    begin() {
      keep(bubTape.begin(session));
      return [];
    },
    work(said, command, output) {
      keep(bubTape.work(session, said, command, output));
      return [said, `$ ${command}`, output];
    },
    done(said) {
      keep(bubTape.done(session, said));
      return [said];
    },
    failed(message) {
      printError(message);
      keep(bubTape.failed(session, message));
      return [];
    },
    answer: () => [],
  };
}

const printError = (message: string): number => writeSync(2, `${message}\n`);

/** Hangs with children that would outlive this process; one of them ignores SIGTERM. */
async function hang(token: string): Promise<void> {
  const { spawn } = await import('node:child_process');
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

/** A long line, lines that are not JSON, JSON that is not an event, and bytes that are not UTF-8. */
async function* garble(): AsyncGenerator<Printed> {
  yield `{"type":"${'x'.repeat(256 * 1024)}"}`;
  yield* ['no JSON at all', '{"type":"cut off', '[1,2]', 'null', '"text"', '{"type":12}', '{}', '', '\r'];
  yield Buffer.from([0xff, 0xfe, 0x80, 0x00, 0x0a]);
  // The bytes of one character arrive one by one.
  for (const byte of Buffer.from('naïve\n')) {
    yield Buffer.from([byte]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
}
