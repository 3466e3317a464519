import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ChosenSandbox, removeTree, strongestSandbox } from '@whetstone/sandbox';
import type { Config, TaskConfig } from '../config/config.ts';
import { needsOpenSandbox, type Selected } from '../config/needs-open-sandbox.ts';
import { BRIEF_PREFIX } from '../workspace/temporary-name.ts';
import { readablePaths } from './start-sandboxes.ts';

/** A configuration that names its sandbox. `sandbox`: it was chosen now. */
export type WithSandbox<Stated> = { config: Stated; sandbox?: ChosenSandbox };

type Given = Pick<Config, 'sandbox' | 'gateway' | 'environment' | 'judge' | 'outputDir'>;

/**
 * The strongest sandbox that this machine proves and in which the selected cases can work, in place of `auto`. It is part of
 * the identity of cases, so it is chosen before planning.
 */
export async function withSandbox<Stated extends Given>(
  config: Stated,
  selected: Selected,
): Promise<WithSandbox<Stated>> {
  if (config.sandbox.provider !== 'auto') return { config };
  const sandbox = await chooseSandbox(config, selected);
  return { config: { ...config, sandbox: { ...config.sandbox, provider: sandbox.provider } }, sandbox };
}

async function chooseSandbox(config: Given, selected: Selected): Promise<ChosenSandbox> {
  const readable = await readablePaths(config, selected);
  const reasons = needsOpenSandbox(config, selected, readable);
  if (reasons.length > 0) return { provider: 'process', reasons };
  return provenSandbox(readable, keptFiles(config, selected.tasks));
}

const proven = new Map<string, Promise<ChosenSandbox>>();

/** The strongest sandbox here, tried once per process. `kept`: what no command may read. */
export function provenSandbox(
  readable: readonly string[] = [],
  kept: readonly string[] = [],
): Promise<ChosenSandbox> {
  const key = JSON.stringify([readable, kept]);
  const known = proven.get(key) ?? prove(readable, kept);
  proven.set(key, known);
  return known;
}

async function prove(readable: readonly string[], kept: readonly string[]): Promise<ChosenSandbox> {
  const scratch = await mkdtemp(join(tmpdir(), BRIEF_PREFIX));
  return await strongestSandbox({ scratch, readable, kept }).finally(() => removeTree(scratch));
}

/** What no case may read, as far as it exists. */
export const keptFiles = (
  { outputDir }: Pick<Config, 'outputDir'>,
  tasks: readonly Pick<TaskConfig, 'hiddenTests'>[],
): string[] =>
  [outputDir, ...tasks.flatMap((task) => task.hiddenTests ?? [])].filter((path) => existsSync(path));
