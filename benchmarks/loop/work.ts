import { setTimeout as pause } from 'node:timers/promises';

/** The same work for every loop that is measured: one tool call per round, then a last answer. */

/** Works through `rounds` tool rounds in a new conversation and returns what holds that conversation. */
export type Converse = (rounds: number) => Promise<unknown>;

export const QUESTION = 'Look up every entry, one after the other.';
export const ANSWER = 'All entries are looked up.';

/** The definition of the tool. */
export const LOOK_UP = {
  name: 'look_up',
  description: 'Looks up an entry by its number.',
  parameters: {
    type: 'object' as const,
    properties: { entry: { type: 'integer' as const }, list: { type: 'string' as const } },
    required: ['entry', 'list'],
  },
};

const RESULT = 'The entry is there and as it should be; nothing else has to be done about it. '
  .repeat(3)
  .trim();

/** The arguments of a round's call, counted from 0. They differ, as in a real conversation. */
export function lookUpArguments(round: number): { entry: number; list: string } {
  return { entry: round, list: 'the list of all entries' };
}

/** The tool's implementation, which counts its calls. */
export function createLookUp() {
  let calls = 0;
  return {
    run: (): string => {
      calls += 1;
      return RESULT;
    },
    /** Throws when the tool was not called `rounds` times. */
    check: (rounds: number): void => {
      if (calls !== rounds) throw new Error(`the tool was called ${calls} times instead of ${rounds}`);
    },
  };
}

/** CPU of the process, and time, when its first model call began: milliseconds, as of `process.cpuUsage` and the clock. */
export let firstModelCall: { cpuMs: number; atMs: number } | undefined;

/** Every fake model calls this when it is called. */
export function atModelCall(): void {
  firstModelCall ??= { cpuMs: cpuMs(), atMs: performance.now() };
}

let answerMs = 0;

/** From now on, every fake model takes this long to answer. Before, it answers at once, in the same turn of the event loop. */
export function setAnswerMs(milliseconds: number): void {
  answerMs = milliseconds;
}

/** Resolves when a fake model answers; `undefined`: at once. */
export const answerTime = (): Promise<void> | undefined => (answerMs > 0 ? pause(answerMs) : undefined);

/** User and system time of the process so far, in milliseconds. */
export function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}
