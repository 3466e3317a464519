import type { Benchmark } from '../benchmark.ts';
import { measureAdapters } from './adapters.ts';
import { measureAppServer } from './app-server.ts';
import { measureParsing } from './parsing.ts';

/** The cost of driving a released agent, and of reading its output. */
export const agents: Benchmark = async ({ size, say }) => {
  const isQuick = size === 'quick';
  const megabytes = isQuick ? 5 : 50;
  const pairs = isQuick ? { most: 3, seconds: 0 } : { most: 20, seconds: 40 };
  const adapters = await measureAdapters(pairs, say);
  const servers = await measureAppServer(isQuick ? 8 : 50, isQuick ? 1 : 4, say);
  const parsing = await measureParsing(megabytes, say);
  return {
    method: `Turns: pairs of the same scripted task (the tests of a project run, its files searched, one repaired, the tests run again; 5 replies of the model, 4 tool calls) with each agent, once as a program, or with its SDK or server as a user of it would, and once through its adapter, each first in turns, for ${pairs.seconds} seconds; the scripted model is a process of its own. Parsing: a recorded stream of each agent, repeated to ${megabytes} MB, is read in chunks of 64 KiB by one reader in a process of its own; the time is that over a process that reads the stream once, memory the peak (VmHWM).`,
    tables: [adapters.table, ...servers, parsing.table],
    aims: [...adapters.aims, ...parsing.aims],
    notes: [
      'Both ways get the same settings, permissions and prompt, and a fresh sandbox `process` with its home, which contains the tree of the program. The adapter also keeps the output on disk, masked, and reads it and what the agent kept into events. A sandbox belongs to a case, not to a turn: the columns `added with its sandbox` count making and removing it as well.',
      'The scripted model answers at once, so that a share is that of what the agent and its commands take by themselves: with a real model, wall time is mostly the model.',
      'Over `acp`, the bare program is led by a client of thirty lines that allows every question. Behind `claude-agent-sdk` and `opencode-sdk`, nothing is asked in a bare turn, and the adapter decides about each call.',
      'The bare app-server is led by a client of 60 lines that asks for a thread and a turn. Threads at once: each has one answer of the model, after a first thread alone; memory and CPU are those of the server process.',
      'CPU is that of the agent with all its children, and of the process that started it; ticks of 10 ms. What is added is the median of the differences of pairs, and between which values the middle half of them is.',
      'What a reader does not keep is the point of parsing: the events go nowhere.',
    ],
  };
};
