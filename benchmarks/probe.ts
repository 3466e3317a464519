/**
 * Loaded with `--import` into the measured process. When that process ends, it writes what it used to the file that
 * WHETSTONE_BENCHMARK_PROBE names. If the process replaces itself (`execve`), its CPU time continues, its memory starts
 * again, and only the last image writes.
 */
import { writeFileSync } from 'node:fs';
import { memoryOf, type ProcessUse } from './process-use.ts';

process.on('exit', () => {
  const file = process.env.WHETSTONE_BENCHMARK_PROBE;
  if (file === undefined) return;
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  const use: ProcessUse = {
    cpuSeconds: (userCPUTime + systemCPUTime) / 1e6,
    peakBytes: memoryOf('self').peak,
  };
  writeFileSync(file, JSON.stringify(use));
});
