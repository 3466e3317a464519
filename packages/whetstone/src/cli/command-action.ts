import type { Streams } from './streams.ts';

/** The code of a command. Gets the arguments, the options and the streams of the process; returns the exit code. */
type CommandCode = (...given: never[]) => number | Promise<number>;

/** Makes the action of a command. `load` imports its code, only when the command is called. */
export type ActionOf = (load: () => Promise<CommandCode>) => (...given: unknown[]) => Promise<void>;

/** `exit` gets the exit code of the command that was called. */
export const commandActions =
  (exit: (code: number) => void): ActionOf =>
  (load) =>
  async (...given) => {
    const run = (await load()) as (...given: unknown[]) => number | Promise<number>;
    const streams: Streams = process;
    // Commander passes the command itself after the options.
    exit(await run(...given.slice(0, -1), streams));
  };
