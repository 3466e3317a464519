/**
 * A coding agent in the terminal: `node examples/loop/chat.ts [provider/model]`, in the folder to work in. What you type
 * while it works steers it; Ctrl-C interrupts, Ctrl-D ends. Commands run as you: use it where you would run them.
 */
import { once } from 'node:events';
import { stdin, stdout } from 'node:process';
import { createInterface } from 'node:readline';
import { stripVTControlCharacters } from 'node:util';
import { Client, LocalExecutionEnvironment, Session, type SessionEvent } from '@whetstone/loop';

const MODELS = { openai: 'gpt-5.5', anthropic: 'claude-opus-4-8', google: 'gemini-3-pro-preview' };

const client = Client.fromEnv();
const [provider = 'openai'] = client.providers;
const name = process.argv[2] ?? `${provider}/${MODELS[provider as keyof typeof MODELS]}`;

const environment = new LocalExecutionEnvironment({ workingDirectory: '.' });
const session = new Session({ ...client.resolve(name), environment, ownsEnvironment: true, askUser: true });
session.on(show);

const terminal = createInterface({ input: stdin, output: stdout, prompt: '\n> ' });
let work: Promise<void> = Promise.resolve();

terminal.on('line', (line) => {
  if (line.trim() === '') terminal.prompt();
  else if (session.state === 'PROCESSING') {
    session.steer(line);
    stdout.write('  (noted)\n');
  } else if (session.state === 'AWAITING_INPUT') void session.submit(line);
  else work = talk(line);
});
terminal.on('SIGINT', () => (session.state === 'IDLE' ? terminal.close() : void session.interrupt()));
console.log(`${name} in ${environment.workingDirectory()}`);
terminal.prompt();
await once(terminal, 'close');
await work.then(() => session.close());

async function talk(line: string): Promise<void> {
  const { reason, error, costUsd } = await session.submit(line);
  const cost = costUsd === undefined ? '' : `, $${costUsd.toFixed(4)}`;
  stdout.write(`\n[${reason}${cost}${error ? `: ${plain(error.message)}` : ''}]\n`);
  if (session.state === 'CLOSED') terminal.close();
  else if (!stdin.readableEnded) terminal.prompt();
}

/** Streams the text, with a line per tool call. */
function show({ kind, data }: SessionEvent): void {
  if (kind === 'ASSISTANT_TEXT_DELTA') stdout.write(plain(data.delta));
  if (kind === 'TOOL_CALL_START')
    stdout.write(`\n· ${plain(data.name)} ${plain(JSON.stringify(data.input))}\n`);
  if (kind === 'TOOL_CALL_END' && data.isError) stdout.write('  failed\n');
  if (kind === 'INPUT_REQUESTED')
    stdout.write(`\n? ${plain([data.question, ...data.options].join('\n  - '))}\n`);
  if (kind === 'WARNING') stdout.write(`\n! ${plain(data.message)}\n`);
}

/** Without sequences that move the cursor or set the title of the terminal. */
function plain(text: string): string {
  return stripVTControlCharacters(text).replaceAll(/[^\P{Cc}\n\t]/gu, '');
}
