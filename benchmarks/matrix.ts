import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { makeRepository } from './make-repository.ts';
import { type Measured, type MeasureOptions, measureNode } from './measured-process.ts';

export const WHETSTONE = join(import.meta.dirname, '../packages/whetstone/bin/whetstone.js');

const TASKS = 10;
/** The tasks and variants of a matrix; more trials give more cases. */
export const CASES_A_TRIAL = TASKS * 2;

/** The agent does as little as possible, here and with the peers. */
export const SMALLEST_AGENT = 'echo done >> README.md';

/** Arguments of a run that choose one case. */
export const ONE_CASE = ['--trials', '1', '--jobs', '1', '--task-id', 'task-1', '--variant', 'plain'];

/**
 * Writes a repository of 200 files and a configuration for it: one agent, ten tasks that `true` validates, and two
 * variants, one of which adds a file. `settings`: further keys of the configuration.
 */
export async function makeMatrix(
  directory: string,
  agentScript: string,
  settings: Record<string, unknown> = {},
): Promise<void> {
  await makeRepository(join(directory, 'repository'), 200);
  writeFileSync(join(directory, 'AGENTS.md'), 'Append to the file; leave the rest alone.\n');
  const config = {
    repo: { path: 'repository' },
    agents: { appender: { kind: 'custom', command: ['sh', '-c', agentScript] } },
    tasks: 'tasks.yaml',
    variants: { plain: {}, ruled: { overlays: [{ source: 'AGENTS.md', target: 'AGENTS.md' }] } },
    evaluation: { commands: ['true'] },
    seed: 'benchmark',
    output_dir: 'runs',
    ...settings,
  };
  const tasks = Array.from({ length: TASKS }, (_, index) => ({
    id: `task-${index + 1}`,
    prompt: `Append a line to README.md. (${index + 1})`,
  }));
  // JSON is YAML.
  writeFileSync(join(directory, 'whetstone.yaml'), JSON.stringify(config, null, 2));
  writeFileSync(join(directory, 'tasks.yaml'), JSON.stringify({ tasks }, null, 2));
}

/** Runs what `makeMatrix` wrote. `program`: default that of the clone. Throws when a case did not pass. */
export function runMatrix(
  directory: string,
  args: readonly string[],
  { onLine, program = WHETSTONE }: Pick<MeasureOptions, 'onLine'> & { program?: string } = {},
): Promise<Measured> {
  return measureNode([program, 'run', '-c', join(directory, 'whetstone.yaml'), ...args], {
    cwd: directory,
    env: { CI: '1' },
    ...(onLine === undefined ? {} : { onLine }),
  });
}
