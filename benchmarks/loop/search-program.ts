/**
 * `node search-program.ts <files> <rounds>`: searches a tree with the `grep` tool (with ripgrep and with its own engine)
 * and with `rg` itself. Prints a `SearchTimes[]` as JSON.
 */
import { spawnSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { createOpenAiProfile, LocalExecutionEnvironment } from '@whetstone/loop';
import { makeRepository } from '../make-repository.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Milliseconds of each round, by method. A method that this machine lacks is absent. */
export type SearchTimes = { search: string; times: Record<string, number[]> };

const RIPGREP = 'rg';

const SEARCHES = [
  { search: 'one file matches', pattern: 'line 7 of file 777:' },
  { search: 'every file matches, the first 100 lines are wanted', pattern: 'line 3 of file' },
  { search: 'nothing matches', pattern: 'no file says this' },
];

const [files = 0, rounds = 0] = process.argv.slice(2).map(Number);
using folder = temporaryFolder();
console.log(JSON.stringify(await measure(folder.path)));

async function measure(work: string): Promise<SearchTimes[]> {
  const tree = join(work, 'tree');
  await makeRepository(tree, files);
  const empty = join(work, 'empty');
  mkdirSync(empty);
  const rg = (args: readonly string[]) => async (pattern: string) => {
    const command = [
      '--hidden',
      '--glob=!.git',
      '--line-number',
      '--no-config',
      ...args,
      '--',
      pattern,
      './',
    ];
    const { error, stdout } = spawnSync(RIPGREP, command, {
      cwd: tree,
      encoding: 'utf8',
      maxBuffer: 1024 ** 3,
    });
    if (error) throw error;
    return stdout;
  };
  const hasRipgrep = spawnSync(RIPGREP, ['--version']).error === undefined;
  const methods: Record<string, (pattern: string) => Promise<string>> = {
    ...(hasRipgrep && {
      '`rg`': rg([]),
      '`rg --sort=path`': rg(['--sort=path']),
      'whetstone grep over rg': grepTool(new LocalExecutionEnvironment({ workingDirectory: tree })),
    }),
    'whetstone grep, own engine': grepTool(
      new LocalExecutionEnvironment({ workingDirectory: tree, env: { PATH: empty } }),
    ),
  };
  const measured: SearchTimes[] = [];
  for (const { search, pattern } of SEARCHES) {
    const times: Record<string, number[]> = {};
    const found = new Set<boolean>();
    for (let round = -1; round < rounds; round += 1) {
      for (const [name, find] of Object.entries(methods)) {
        const began = performance.now();
        const text = await find(pattern);
        const elapsed = performance.now() - began;
        // Round -1 fills the file cache and compiles the code.
        if (round >= 0) times[name] = [...(times[name] ?? []), elapsed];
        found.add(/line \d+ of file/.test(text));
      }
    }
    if (found.size !== 1) throw new Error(`the methods do not agree on "${pattern}"`);
    measured.push({ search, times });
  }
  return measured;
}

/** The tool as the loop calls it. */
function grepTool(environment: LocalExecutionEnvironment): (pattern: string) => Promise<string> {
  const grep = createOpenAiProfile({ model: 'fake-1' }).toolRegistry.get('grep');
  if (!grep) throw new Error('the profile has no grep');
  const context = {
    environment,
    signal: new AbortController().signal,
    callId: 'call_1',
    sessionId: 'benchmark',
    onUpdate: () => {},
    limits: { defaultCommandTimeoutMs: undefined, maxCommandTimeoutMs: 600_000 },
  };
  return async (pattern) => {
    const output = await grep.executor({ pattern }, context);
    return typeof output === 'string' ? output : JSON.stringify(output.content);
  };
}
