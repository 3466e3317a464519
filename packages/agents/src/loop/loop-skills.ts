import type { DeclaredSkill } from '../kit/declared-context.ts';

/**
 * The prompt's text about skills, because our loop has no tool for them: names, descriptions and files, and that the model
 * shall read the file of a skill that fits (https://agentskills.io, "filesystem-based agents"). `folder` is absolute.
 */
export function describeSkills(folder: string, skills: readonly DeclaredSkill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const entries = skills.map(
    ({ name, description }) =>
      `- ${name}: ${description.replaceAll(/\s+/g, ' ')} (file: ${folder}/${name}/SKILL.md)`,
  );
  return `## Skills

A skill is a folder with instructions for one kind of work. When the work in hand is what the description of a skill says, read the skill's file before you begin, and do as it says. Paths in it are relative to its folder. Read no other skill.

${entries.join('\n')}`;
}
