import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { type LoopProfile, loopProfiles } from '@whetstone/agents/config';
import { loopDefaults } from '@whetstone/agents/evaluator';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Session, SubmitResult } from '@whetstone/loop';
import { plainText } from '../report/sanitize.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';

export type AgentCommandOptions = {
  cd: string;
  profile?: LoopProfile;
  model?: string;
  baseUrl?: string;
  reasoningEffort?: string;
  maxToolRounds?: number;
  json?: boolean;
};

/**
 * Runs our own loop on one prompt, in a directory of this machine. Prints the answer, or with `--json` the events, one
 * `StreamEvent` per line. Exit code 0 when the model was done, 1 when it was not, 130 when interrupted.
 */
export async function agentCommand(
  prompt: string,
  options: AgentCommandOptions,
  streams: Streams,
): Promise<number> {
  const { stdin, stdout, stderr } = streams;
  const { provider, model, apiKey, baseUrl } = chooseModel(options);
  const input = prompt === '-' ? await text(stdin) : prompt;
  if (input.trim() === '') throw new WhetstoneError('prompt-empty', 'The prompt is empty.');
  const workingDirectory = await existingDirectory(options.cd);

  const loop = await import('@whetstone/loop');
  using interrupt = onInterrupt(stderr);
  await using environment = new loop.LocalExecutionEnvironment({ workingDirectory });
  await using session = new loop.Session({
    ...new loop.Client({ providers: { [provider]: { apiKey, ...present({ baseUrl }) } } }).resolve(
      `${provider}/${model}`,
    ),
    environment,
    config: present({
      reasoningEffort: options.reasoningEffort,
      maxToolRoundsPerInput: options.maxToolRounds,
    }),
    signal: interrupt.signal,
  });
  const stopPrinting = options.json
    ? printEvents(session, loop.createStreamEventMapper(), stdout)
    : printActivity(session, stderr);
  try {
    const result = await session.submit(input);
    if (!options.json) printResult(result, streams);
    if (interrupt.signal.aborted) return 130;
    return result.reason === 'completed' ? 0 : 1;
  } finally {
    await session.close();
    stopPrinting();
  }
}

/** The profile of `--profile`, else the first one whose key is set. */
function chooseModel(options: AgentCommandOptions) {
  const keyOf = (profile: LoopProfile) => process.env[loopDefaults[profile].apiKeyEnv];
  const profile = options.profile ?? loopProfiles.find(keyOf);
  const apiKey = profile && keyOf(profile);
  if (!apiKey) {
    const wanted = (profile ? [profile] : loopProfiles).map((name) => loopDefaults[name].apiKeyEnv);
    const unset = `${wanted.join(', ')} ${wanted.length === 1 ? 'is' : 'are'} not set`;
    const hint = profile ? 'Set the variable, or choose another profile with --profile.' : 'Set one of them.';
    throw new WhetstoneError('agent-key-missing', `No key for a model: ${unset}.`, { hint });
  }
  const { provider, model, baseUrlEnv } = loopDefaults[profile];
  const baseUrl = options.baseUrl ?? (process.env[baseUrlEnv] || undefined);
  return { provider, model: options.model ?? model, apiKey, baseUrl };
}

function printEvents(
  session: Session,
  toStreamEvents: ReturnType<typeof import('@whetstone/loop')['createStreamEventMapper']>,
  stdout: NodeJS.WritableStream,
): () => void {
  return session.on((event) => {
    for (const mapped of toStreamEvents(event)) stdout.write(`${JSON.stringify(mapped)}\n`);
  });
}

/** Prints what the agent does, one line per tool call, on stderr, because stdout is only for the answer. */
function printActivity(session: Session, stderr: NodeJS.WritableStream): () => void {
  return session.on((event) => {
    if (event.kind === 'TOOL_CALL_START') stderr.write(`· ${plainText(event.data.name)}\n`);
    if (event.kind === 'WARNING') stderr.write(`! ${plainText(event.data.message)}\n`);
  });
}

function printResult({ text: answer, reason, error }: SubmitResult, { stdout, stderr }: Streams): void {
  if (answer !== '') stdout.write(`${plainText(answer)}\n`);
  if (reason === 'completed') return;
  stderr.write(`Not completed (${reason})${error ? `: ${plainText(error.message)}` : '.'}\n`);
}

async function existingDirectory(path: string): Promise<string> {
  const directory = resolve(path);
  const found = await stat(directory).catch(() => undefined);
  if (found?.isDirectory()) return directory;
  throw new WhetstoneError('directory-not-found', `${directory} is not a directory.`, {
    hint: 'Name the working directory with --cd.',
  });
}
