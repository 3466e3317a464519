import type { Benchmark } from '../benchmark.ts';
import { measureAdapters } from './adapters.ts';
import { measureAppServer } from './app-server.ts';
import { measureParsing } from './parsing.ts';

/** The cost of driving a released agent, and of reading its output. */
export const agents: Benchmark = async ({ size, say }) => {
  const megabytes = size === 'quick' ? 10 : 100;
  const turns = size === 'quick' ? 3 : 20;
  const adapters = await measureAdapters(turns, say);
  const servers = await measureAppServer(size === 'quick' ? 8 : 50, turns, say);
  const parsing = await measureParsing(megabytes, say);
  return {
    method: `Turns: ${turns} pairs of the same scripted task (a file written, run, read and edited; 5 replies of the model) with each agent, once started as a program, or with its SDK as a user of the SDK would, and once through its adapter, in turns; the scripted model is a process of its own. Parsing: a recorded stream of each agent, repeated to ${megabytes} MB, is read in chunks of 64 KiB by one reader in a process of its own; the time is that over a process that reads the stream once, memory the peak (VmHWM).`,
    tables: [adapters, ...servers, parsing.table],
    aims: parsing.aims,
    notes: [
      'Both ways get the same arguments, settings, prompt and fresh home. The adapter has, beside the agent, a process sandbox made and removed, its tree contained, its output kept on disk, masked, and read into events.',
      'Over `acp`, the bare program is led by a client of thirty lines that allows every question.',
      'The bare app-server is led by a client of 60 lines that asks for a thread and a turn. Threads at once: each has one answer of the model, after a first thread alone; memory and CPU are those of the server process.',
      'CPU is that of the agent with all its children, and of the process that started it; ticks of 10 ms. What is added is the median of the differences of pairs.',
      'What a reader does not keep is the point of parsing: the events go nowhere.',
    ],
  };
};
