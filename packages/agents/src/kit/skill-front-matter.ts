import { parse } from 'yaml';
import { z } from 'zod';

/** The fields of a SKILL.md's front matter that agents agree on (https://agentskills.io/specification). */
const frontMatterSchema = z.object({
  name: z
    .string('has no name')
    .max(64, 'has a name of more than 64 characters')
    .regex(/^[a-z0-9]+(-[a-z0-9]+)*$/, 'has a name that is not of the form lower-case-words'),
  description: z.string('has no description').trim().min(1, 'has an empty description'),
});

/** Reads name and description of a SKILL.md, or reports what is wrong with them. */
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
