import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { parse } from 'yaml';
import { z } from 'zod';
import type { SkillConfig } from './config.ts';
import { existingPath, type ReadContext } from './read-context.ts';
import { copyProblems } from './source-tree.ts';
import type { YamlPath } from './yaml-source.ts';

/** The front matter of a SKILL.md, as far as agents agree on it (https://agentskills.io/specification). */
const frontMatterSchema = z.object({
  name: z
    .string('has no name')
    .max(64, 'has a name of more than 64 characters')
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'has a name that is not of the form lower-case-words'),
  description: z.string('has no description').trim().min(1, 'has an empty description'),
});

/** A folder with a SKILL.md. Agents list a skill by name and description; one without either would not be seen. */
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
      hint: `${file} starts with a block of --- with name: and description:`,
    });
  }
  return read.success && problems.length === 0 ? { ...read.data, source } : undefined;
}

/** Name and description of a SKILL.md, or what is wrong with them. */
export const readFrontMatter = (text: string) => frontMatterSchema.safeParse(frontMatter(text));

function frontMatter(text: string): object {
  const block = /^\uFEFF?---[ \t]*\r?\n(?<yaml>[\s\S]*?)\r?\n---[ \t]*(\r?\n|$)/.exec(text)?.groups?.yaml;
  try {
    const value: unknown = parse(block ?? '');
    return typeof value === 'object' && value !== null ? value : {};
  } catch {
    return {};
  }
}
