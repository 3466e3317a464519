/**
 * Loaded with `--import` into the process that is measured: when that process ends, it writes what it used to the file
 * that WHETSTONE_BENCHMARK_PROBE names. Where the process replaces itself (`execve`), its CPU time goes on counting and
 * its memory begins anew; only the last image writes.
 */
import { writeFileSync } from 'node:fs';
import { cpuSecondsOfChildren, memoryOf, type ProcessUse } from './process-use.ts';

process.on('exit', () => {
  const file = process.env.WHETSTONE_BENCHMARK_PROBE;
  if (file === undefined) return;
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const use: ProcessUse = {
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    childrenCpuSeconds: cpuSecondsOfChildren(),
    peakBytes: memoryOf('self').peak,
  };
  writeFileSync(file, JSON.stringify(use));
});
