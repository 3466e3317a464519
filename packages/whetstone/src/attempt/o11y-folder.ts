import { mkdirSync, writeFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { join } from 'node:path';
import { deriveObservability } from '@whetstone/agents/evals';
import type { StreamEvent } from '@whetstone/events';
import { removeTree } from '@whetstone/sandbox';
import type { Lab } from './lab.ts';
import { maskValues } from './mask-values.ts';

/**
 * A folder with `__niceeval__/results.json`, which reports to hidden tests what the agent did. It is laid over the tree of the
 * clean room only, so it is in no workspace of an agent and in no diff. Disposing removes it.
 */
export async function openO11yFolder(
  events: readonly StreamEvent[],
  { scratch, mask }: Pick<Lab, 'scratch' | 'mask'>,
): Promise<{ path: string } & AsyncDisposable> {
  const path = await mkdtemp(join(scratch, 'o-'));
  const o11y = maskValues(deriveObservability(events), mask);
  mkdirSync(join(path, '__niceeval__'));
  writeFileSync(join(path, '__niceeval__/results.json'), `${JSON.stringify({ o11y }, null, 2)}\n`);
  return { path, [Symbol.asyncDispose]: () => removeTree(path) };
}
