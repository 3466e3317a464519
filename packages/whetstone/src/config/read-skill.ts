import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { readFrontMatter, type SkillConfig } from '@whetstone/agents/config';
import { existingPath, type ReadContext } from './read-context.ts';
import { copyProblems } from './source-tree.ts';
import type { YamlPath } from './yaml-source.ts';

/** A folder with a SKILL.md. Agents list a skill by its name and description, so both are required. */
export async function readSkill(
  value: string,
  path: YamlPath,
  context: ReadContext,
): Promise<SkillConfig | undefined> {
  const { report } = context;
  const source = existingPath(value, path, context, 'folder');
  if (source === undefined) return undefined;
  const file = join(source, 'SKILL.md');
  const text = await readFile(file, 'utf8').catch(() => undefined);
  if (text === undefined) {
    report.error(path, `has no SKILL.md: ${source}`, { hint: 'name the folder of one skill' });
    return undefined;
  }
  const problems = await copyProblems(source, 'a skill');
  for (const problem of problems) report.error(path, problem);
  const read = readFrontMatter(text);
  for (const issue of read.error?.issues ?? []) {
    report.error(path, `its SKILL.md ${issue.message}`, {
      hint: `start ${file} with a front matter: name: and description: between two lines of ---`,
    });
  }
  return read.success && problems.length === 0 ? { ...read.data, source } : undefined;
}
