import { appendFileSync, existsSync, mkdirSync, readFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** Cases of hostile agents, or kills of the harness: what is played at a stretch, in minutes. */
export type Part = {
  kind: 'quick' | 'heavy' | 'kills';
  /** From 1. */
  number: number;
};

/** `came`: how many of its cases came to what. `peakBytes`: the most memory that the harness was seen with in its runs. */
export type PlayedAgent = {
  agent: string;
  count: number;
  slowestSeconds: number;
  came: Record<string, number>;
  peakBytes: number;
};

/** What came of a part. */
export type PartResult = Part & {
  /** The version that was played. */
  commit: string;
  seconds: number;
  cases: PlayedAgent[];
  kills: number;
  /** Of these kills, the ones that came while cases ran. Absent: it was not counted. */
  midCase?: number;
  /** The most cases that one kill cost. */
  mostLost: number;
  problems: string[];
};

/** A heavy part has a case of each heavy agent. */
export const CASES_PER_PART = 60;
export const KILLS_PER_PART = 10;

/** How much is played. `cases`: of all quick agents together. `heavy`: of each heavy one. */
export type Amount = { cases: number; heavy: number; kills: number };

/** The parts of a soak of so much, at least, all kinds by turns. */
export function partsOf({ cases, heavy, kills }: Amount): Part[] {
  const counts = {
    quick: Math.ceil(cases / CASES_PER_PART),
    kills: Math.ceil(kills / KILLS_PER_PART),
    heavy,
  };
  const all = Object.entries(counts).flatMap(([kind, count]) =>
    Array.from({ length: count }, (_, index) => ({ kind: kind as Part['kind'], number: index + 1 })),
  );
  return all.sort((one, other) => one.number - other.number);
}

export const nameOf = ({ kind, number }: Part): string => `${kind} ${number}`;

/** The results of parts that an earlier soak has played, by name. `file`: a line per part. */
export function playedParts(file: string): Map<string, PartResult> {
  if (!existsSync(file)) return new Map();
  const lines = readFileSync(file, 'utf8').split('\n');
  // A soak that was killed can have written half a line.
  const results = lines.filter((line) => line.endsWith('}')).map((line) => JSON.parse(line) as PartResult);
  return new Map(results.map((result) => [nameOf(result), result]));
}

export function keepPart(file: string, result: PartResult): void {
  mkdirSync(dirname(file), { recursive: true });
  appendFileSync(file, `${JSON.stringify(result)}\n`);
}
