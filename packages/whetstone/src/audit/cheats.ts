import { createHash } from 'node:crypto';
import type { Attack, Target } from '../testkit/attacks/attack.ts';
import { missingDataAttacks } from '../testkit/attacks/missing-data-attacks.ts';
import { nodeAttacks } from '../testkit/attacks/node-attacks.ts';
import { pythonAttacks } from '../testkit/attacks/python-attacks.ts';
import { reportAttacks } from '../testkit/attacks/report-attacks.ts';
import { searchAttacks } from '../testkit/attacks/search-attacks.ts';
import { looseAttack, stubAttacks } from '../testkit/attacks/stub-attacks.ts';
import { systemAttacks } from '../testkit/attacks/system-attacks.ts';
import { testAttacks } from '../testkit/attacks/test-attacks.ts';
import type { Work } from '../verify/judge-work.ts';

/** A program that does not do the work of a task, as a shell script for one task. */
export type Cheat = Pick<Attack, 'name' | 'what'> & { script: string; hash: string };

export const allCheats: readonly Attack[] = [
  ...[...nodeAttacks, ...pythonAttacks, ...reportAttacks, ...testAttacks],
  ...[...searchAttacks, ...systemAttacks, ...stubAttacks, looseAttack],
  // What they leave makes a machine slow, or needs a mount: they are tried by the tests of Whetstone.
  ...missingDataAttacks
    .filter(({ name }) => !/^(huge-file|kills-all)$/.test(name))
    .map(
      ({ name, what, script }): Attack => ({ name, what, language: 'any', fools: [], script: () => script }),
    ),
];

/** How long one may run, in milliseconds. */
const TIME_LIMIT_MS: Readonly<Record<string, number>> = { 'ignores-signals': 2000 };
const DEFAULT_LIMIT_MS = 60_000;

/** Those that can be played on a target. A script that would do nothing there is left out. */
export function cheatsFor(target: Target): Cheat[] {
  const isPython = target.sources.some(({ format }) => format === 'python');
  const isNode = target.sources.some(({ format }) => format !== 'python');
  const fits = { any: true, node: isNode, python: isPython };
  return allCheats.flatMap(({ name, what, language, script }) => {
    if (!fits[language]) return [];
    const text = script(target);
    if (text.trim() === '') return [];
    const hash = createHash('sha256').update(text).digest('hex').slice(0, 16);
    return { name, what, script: text, hash };
  });
}

/** The work of a cheat: its script runs in the workspace, as the command of an agent does. */
export const playCheat =
  ({ name, script }: Cheat, signal: AbortSignal): Work =>
  async ({ workspace, sandboxes }) => {
    await using sandbox = await sandboxes.start({ workdir: workspace.path, ...workspace.place, env: {} });
    await sandbox.runShell(script, { timeoutMs: TIME_LIMIT_MS[name] ?? DEFAULT_LIMIT_MS, signal });
    await sandbox.stop();
  };
