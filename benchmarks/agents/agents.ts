import type { Benchmark } from '../benchmark.ts';
import { measureAdapters } from './adapters.ts';
import { measureAppServer } from './app-server.ts';
import { measureParsing } from './parsing.ts';

/** The cost of driving a released agent, and of reading its output. */
export const agents: Benchmark = async ({ size, say }) => {
  const isQuick = size === 'quick';
  const megabytes = isQuick ? 5 : 50;
  const pairs = isQuick ? { most: 3, seconds: 0 } : { most: 20, seconds: 12 };
  const adapters = await measureAdapters(pairs, say);
  const servers = await measureAppServer(isQuick ? 8 : 50, isQuick ? 1 : 4, say);
  const parsing = await measureParsing(megabytes, say);
  return {
    method: `Turns: pairs of the same scripted task (a file written, run, read and edited; 5 replies of the model) with each agent, once as a program, or with its SDK or server as a user of it would, and once through its adapter, in turns, for ${pairs.seconds} seconds; the scripted model is a process of its own. Parsing: a recorded stream of each agent, repeated to ${megabytes} MB, is read in chunks of 64 KiB by one reader in a process of its own; the time is that over a process that reads the stream once, memory the peak (VmHWM).`,
    tables: [adapters.table, ...servers, parsing.table],
    aims: [...adapters.aims, ...parsing.aims],
    notes: [
      'Both ways get the same settings, permissions, prompt and fresh home, which is removed again. The adapter has, beside the agent, a process sandbox made and removed, its tree contained, its output kept on disk, masked, and read into events.',
      'Over `acp`, the bare program is led by a client of thirty lines that allows every question. Behind `claude-agent-sdk` and `opencode-sdk`, nothing is asked in a bare turn, and the adapter decides about each call.',
      'The bare app-server is led by a client of 60 lines that asks for a thread and a turn. Threads at once: each has one answer of the model, after a first thread alone; memory and CPU are those of the server process.',
      'CPU is that of the agent with all its children, and of the process that started it; ticks of 10 ms. What is added is the median of the differences of pairs, and between which values the middle half of them is.',
      'What a reader does not keep is the point of parsing: the events go nowhere.',
    ],
  };
};
