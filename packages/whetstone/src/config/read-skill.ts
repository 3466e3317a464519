import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFrontMatter, type SkillConfig } from '@whetstone/agents/config';
import { existingPath } from './existing-path.ts';
import { copyProblems } from './source-tree.ts';
import type { Spot } from './spot.ts';

/** A folder with a SKILL.md. Agents list a skill by its name and description, so both are required. */
export async function readSkill(value: string, spot: Spot): Promise<SkillConfig | undefined> {
  const source = existingPath(value, spot, 'folder');
  if (source === undefined) return undefined;
  const file = join(source, 'SKILL.md');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    spot.error(`has no SKILL.md: ${source}`, { hint: 'name the folder of one skill' });
    return undefined;
  }
  const problems = await copyProblems(source, 'a skill');
  for (const problem of problems) spot.error(problem);
  const read = readFrontMatter(text);
  for (const issue of read.error?.issues ?? []) {
    spot.error(`its SKILL.md ${issue.message}`, {
      hint: `start ${file} with a front matter: name: and description: between two lines of ---`,
    });
  }
  return read.success && problems.length === 0 ? { ...read.data, source } : undefined;
}
