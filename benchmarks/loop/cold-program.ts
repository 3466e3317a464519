/**
 * The measured process: `node cold-program.js <loop> <conversations> <rounds>` loads one of the loops, runs the
 * conversations at once, and prints a `ColdUse` as JSON. Nothing is warmed up, and nothing was compiled before.
 */
import { readFileSync } from 'node:fs';
import { CONVERSES } from './converses.ts';
import { cpuMs, firstModelCall } from './work.ts';

/** Milliseconds from the start of this program on: what Node itself needs to start is not in them. */
export type ColdUse = {
  importCpuMs: number;
  requestCpuMs: number;
  requestWallMs: number;
  cpuMs: number;
  wallMs: number;
  /** VmHWM, and here Node itself counts too. */
  peakMegabytes: number;
};

const [name = '', conversations = '', rounds = ''] = process.argv.slice(2);
const load = CONVERSES[name];
if (!load || rounds === '') throw new Error('usage: node cold-program.js <loop> <conversations> <rounds>');
const cpuBefore = cpuMs();
const began = performance.now();
const converse = await load();
const importCpuMs = cpuMs() - cpuBefore;
await Promise.all(Array.from({ length: Number(conversations) }, () => converse(Number(rounds))));
const use: ColdUse = {
  importCpuMs,
  requestCpuMs: (firstModelCall?.cpuMs ?? Number.NaN) - cpuBefore,
  requestWallMs: (firstModelCall?.atMs ?? Number.NaN) - began,
  cpuMs: cpuMs() - cpuBefore,
  wallMs: performance.now() - began,
  peakMegabytes: Number(/VmHWM:\s+(\d+)/.exec(readFileSync('/proc/self/status', 'utf8'))?.[1]) / 1024,
};
console.log(JSON.stringify(use));
