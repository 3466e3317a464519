import { createHash } from 'node:crypto';
import { isDeviceName } from '@whetstone/sandbox';

export type CaseName = { agent: string; task: string; variant: string; trial: number };

const MAX_PART_LENGTH = 60;

/**
 * Ids of cases: `<task>__<variant>__<agent>__trial-<n>`, safe and distinct as file names on every system. Where a name
 * is changed or could be read in two ways, the id ends with 8 digits of a hash, or more if two are still equal.
 */
export function nameCases(cases: readonly CaseName[]): string[] {
  const names = cases.map((name) => caseId(name, 8));
  const taken = new Map<string, number>();
  for (const name of names) taken.set(name, (taken.get(name) ?? 0) + 1);
  return cases.map((name, index) => {
    const id = names[index] ?? '';
    return taken.get(id) === 1 ? id : caseId(name, 32);
  });
}

function caseId({ agent, task, variant, trial }: CaseName, digits: number): string {
  const names = [task, variant, agent];
  const id = `${names.map(slug).join('__')}__trial-${trial}`;
  if (names.every((name) => slug(name) === name)) return id;
  const hash = createHash('sha256')
    .update(JSON.stringify([...names, trial]))
    .digest('hex');
  return `${id}-${hash.slice(0, digits)}`;
}

/**
 * A name as a part of an id: itself where it is lower case (some file systems ignore case), has no `__` and no `_` at
 * its ends (`__` joins the parts), no leading dot or dash, and is not the name of a device.
 */
function slug(name: string): string {
  const plain = name
    .toLowerCase()
    .replace(/[^a-z0-9_.-]+/g, '-')
    .replace(/_{2,}/g, '_')
    .replace(/^[_.-]+|[_.-]+$/g, '')
    .slice(0, MAX_PART_LENGTH)
    .replace(/[_.-]+$/, '');
  if (plain === '') return 'x';
  return isDeviceName(plain) ? `x-${plain}`.slice(0, MAX_PART_LENGTH) : plain;
}
