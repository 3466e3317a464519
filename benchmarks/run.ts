/**
 * `npm run bench -- [name …] [--quick]`: measures, prints the figures, and writes them to RESULTS.md. With `--quick`, it
 * uses small sizes to check that everything works, and only prints. `soak`, which takes hours, is only measured by name; with
 * `--cases N`, `--heavy N` and `--kills N` it plays that much of it, goes on where it was stopped, and its section says so.
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { messageOf } from '@whetstone/errors';
import { agents } from './agents/agents.ts';
import { assertions } from './assertions.ts';
import type { Benchmark } from './benchmark.ts';
import { coldStart } from './cold-start.ts';
import { environments } from './environments.ts';
import { evals } from './evals.ts';
import { gateway } from './gateway/gateway.ts';
import { harnessOverhead } from './harness-overhead.ts';
import { loop } from './loop/loop.ts';
import { describeMachine } from './machine.ts';
import { manyFiles } from './many-files.ts';
import { renderSection, replaceSection } from './markdown.ts';
import { masks } from './masks.ts';
import { memory } from './memory.ts';
import { page } from './page.ts';
import { sandbox } from './sandbox.ts';
import { soak } from './soak/soak.ts';
import { truth } from './truth/truth.ts';
import { workspaceReady } from './workspace-ready.ts';

const BENCHMARKS: Record<string, Benchmark> = {
  'harness-overhead': harnessOverhead,
  sandbox,
  soak,
  'cold-start': coldStart,
  'workspace-ready': workspaceReady,
  environments,
  memory,
  'many-files': manyFiles,
  gateway,
  loop,
  agents,
  truth,
  assertions,
  evals,
  page,
  masks,
};
const RESULTS = join(import.meta.dirname, 'RESULTS.md');

const known = Object.keys(BENCHMARKS);
const HELP = `Usage: npm run bench -- [NAME...] [options]

Measures, prints the figures, and writes them to benchmarks/RESULTS.md. Without a NAME, all but soak:
  ${known.join(', ')}

Options:
  --quick                              small sizes, to check that everything works; only prints
  --cases N, --heavy N, --kills N      soak plays so much
  -h, --help                           this text`;
const { values, positionals } = readArguments();
if (values.help) {
  console.log(HELP);
  process.exit();
}
const unknown = positionals.filter((name) => !known.includes(name));
if (unknown.length > 0) fail(`Unknown: ${unknown.join(', ')}. There are: ${known.join(', ')}.`);
if (process.platform !== 'linux') fail('The benchmarks read /proc, so they need Linux.');

const counts = { ...countOf('cases'), ...countOf('heavy'), ...countOf('kills') };
const usual = known.filter((name) => name !== 'soak');

for (const name of positionals.length > 0 ? positionals : usual) await measure(name);

/** Each section is written at once, so that a later failure loses no results. */
async function measure(name: string): Promise<void> {
  const benchmark = BENCHMARKS[name];
  if (!benchmark) return;
  const size = values.quick ? 'quick' : 'full';
  const machine = describeMachine();
  const report = await benchmark({ size, say: (line) => console.error(`${name}: ${line}`), ...counts });
  const parts = Object.entries(counts).map(([option, count]) => `--${option} ${count}`);
  const command = ['npm run bench --', name, ...(values.quick ? ['--quick'] : []), ...parts].join(' ');
  const section = renderSection(name, { machine, command, report });
  console.log(`${section}\n`);
  if (size === 'full') keep(name, section);
}

function countOf(option: 'cases' | 'heavy' | 'kills'): { cases?: number; heavy?: number; kills?: number } {
  const text = values[option];
  if (text === undefined) return {};
  if (!/^\d+$/.test(text)) fail(`--${option} takes a whole number, and this is ${text}.`);
  return { [option]: Number(text) };
}

/** The file is formatted, because the linter checks it too. */
function keep(name: string, section: string): void {
  writeFileSync(RESULTS, replaceSection(readFileSync(RESULTS, 'utf8'), { name, section, order: known }));
  execFileSync('npx', ['biome', 'format', '--write', RESULTS], { stdio: 'ignore' });
}

function readArguments() {
  try {
    return parseArgs({
      options: {
        quick: { type: 'boolean', default: false },
        cases: { type: 'string' },
        heavy: { type: 'string' },
        kills: { type: 'string' },
        help: { type: 'boolean', short: 'h' },
      },
      allowPositionals: true,
    });
  } catch (error) {
    fail(`${messageOf(error)}\n\n${HELP}`);
  }
}

function fail(message: string): never {
  console.error(message);
  process.exit(2);
}
