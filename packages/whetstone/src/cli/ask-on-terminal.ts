import { createInterface } from 'node:readline/promises';
import type { AskHuman, PolicyRequest } from '@whetstone/agents';
import { WhetstoneError } from '@whetstone/errors';
import { oneLine } from '../report/sanitize.ts';
import type { Streams } from './streams.ts';

/**
 * Asks on the terminal, one question at a time. `y` allows; any other answer, or the end of the input, leaves the question
 * to the policy, which denies it. Ctrl-C interrupts the process as it does without a question.
 *
 * @throws WhetstoneError `terminal-missing` when the input is not a terminal
 */
export function askOnTerminal({ stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>): AskHuman {
  if (!stdin.isTTY) {
    throw new WhetstoneError('terminal-missing', '--interactive needs a terminal to ask on.', {
      hint: 'Leave it out, and write rules under `policy` of the agent instead.',
    });
  }
  let last: Promise<unknown> = Promise.resolve();
  return (request) => {
    const answered = last.then(() => ask(request, { stdin, stderr }));
    last = answered.catch(() => undefined);
    return answered;
  };
}

async function ask(
  request: PolicyRequest,
  { stdin, stderr }: Pick<Streams, 'stdin' | 'stderr'>,
): Promise<Awaited<ReturnType<AskHuman>>> {
  using terminal = createInterface({ input: stdin, output: stderr });
  const asked = Promise.withResolvers<string>();
  terminal.once('close', () => asked.resolve(''));
  // While a question is open, the terminal sends no signal for Ctrl-C, which means the run and not the question.
  terminal.once('SIGINT', () => {
    terminal.close();
    process.kill(process.pid, 'SIGINT');
  });
  void terminal
    .question(`\nThe agent asks: ${subjectOf(request)}\nAllow it once? [y/N] `)
    .then(asked.resolve, () => {});
  const answer = await asked.promise;
  return /^\s*y(?:es)?\s*$/i.test(answer) ? { decision: 'approved', rule: '--interactive' } : undefined;
}

/** What an agent writes is not to be trusted, so it is one line without control characters. */
function subjectOf(request: PolicyRequest): string {
  switch (request.kind) {
    case 'command':
      return oneLine(`run ${request.command}`);
    case 'tool':
      return oneLine(`call ${request.name} ${JSON.stringify(request.input)}`);
    case 'question':
      return oneLine(request.questions.map(({ text }) => text).join(' / '));
    case 'elicitation':
      return oneLine(`${request.server}: ${request.message}`);
    case 'plugin':
    case 'config':
      return oneLine(`${request.kind} ${request.what}`);
    case 'grant':
      return oneLine(
        `more: ${[request.what, ...(request.hosts ?? []), ...(request.paths ?? [])].join(', ')}`,
      );
    case 'file-change':
      return oneLine(`change ${request.paths.join(', ')}`);
    case 'file-read':
      return oneLine(`read ${request.paths.join(', ')}`);
  }
}
