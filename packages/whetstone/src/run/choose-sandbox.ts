import { existsSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { type ChosenSandbox, type ContainerOptions, removeTree, strongestSandbox } from '@whetstone/sandbox';
import { briefFolder } from '@whetstone/sandbox/files';
import type { Config, TaskConfig } from '../config/config.ts';
import { needsOpenSandbox, type Selected } from '../config/needs-open-sandbox.ts';
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
  return provenSandbox(readable, keptFiles(config, selected.tasks), config.sandbox.container);
}

const proven = new Map<string, Promise<ChosenSandbox>>();

/** The strongest sandbox here, tried once per process. `kept`: what no command may read. */
export function provenSandbox(
  readable: readonly string[] = [],
  kept: readonly string[] = [],
  container?: ContainerOptions,
): Promise<ChosenSandbox> {
  const key = JSON.stringify([readable, kept, container]);
  const known = proven.get(key) ?? prove({ readable, kept, ...present({ container }) });
  proven.set(key, known);
  return known;
}

async function prove(
  places: Omit<Parameters<typeof strongestSandbox>[0], 'scratch'>,
): Promise<ChosenSandbox> {
  const scratch = await mkdtemp(join(tmpdir(), briefFolder()));
  return await strongestSandbox({ scratch, ...places }).finally(() => removeTree(scratch));
}

/** What no case may read, as far as it exists. */
export const keptFiles = (
  { outputDir }: Pick<Config, 'outputDir'>,
  tasks: readonly Pick<TaskConfig, 'hiddenTests'>[],
): string[] =>
  [outputDir, ...tasks.flatMap((task) => task.hiddenTests ?? [])].filter((path) => existsSync(path));
