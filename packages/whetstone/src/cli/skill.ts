import { existsSync, readFileSync } from 'node:fs';
import { writeFile } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { findDrivenAgent } from '@whetstone/agents';
import { agentsHere } from '@whetstone/agents/install';
import { WhetstoneError } from '@whetstone/errors';
import { makeEach } from '@whetstone/sandbox/files';
import { isUnchanged, SKILL_NAME, skillText } from '../mcp/skill-text.ts';
import { unwritable } from '../record/unwritable.ts';
import { escapedJson } from '../report/json.ts';
import { version } from '../version.ts';
import { openRepository } from '../workspace/repository.ts';
import type { Streams } from './streams.ts';

type SkillOptions = { agent: string[]; user?: boolean; force?: boolean; json?: boolean };

/** What most agents read in a project. */
const SHARED = '.agents/skills';

/**
 * Writes the skill into the folder of each agent, once per folder. A skill of an earlier version is replaced; one that a
 * person has changed only with `force`.
 * @throws WhetstoneError `agent-kind-unknown`, `file-exists`, `output-unwritable`
 */
export async function skillInstallCommand(
  { agent: kinds, user = false, force = false, json = false }: SkillOptions,
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const root = user ? homedir() : (await openRepository(process.cwd())).workTree;
  const folders = await foldersFor(kinds, user);
  const files = folders.map((folder) => join(root, folder, SKILL_NAME, 'SKILL.md'));
  const changed = files.find((file) => existsSync(file) && !isUnchanged(readFileSync(file, 'utf8')));
  if (changed !== undefined && !force) {
    throw new WhetstoneError('file-exists', 'This skill was changed.', {
      where: changed,
      hint: 'Keep yours, or replace it with --force.',
    });
  }
  for (const file of files) await write(file);
  const shown = files.map((file) => relative(process.cwd(), file));
  stdout.write(
    json
      ? escapedJson({ written: shown, mcp_server: { command: 'whetstone', args: ['mcp'] } })
      : [
          ...shown.map((file) => `Wrote ${file}`),
          'The tools come from an MCP server. Add to the settings of your agent the command: whetstone mcp',
          '',
        ].join('\n'),
  );
  return 0;
}

async function foldersFor(kinds: readonly string[], user: boolean): Promise<string[]> {
  const named = kinds.map((kind) => findDrivenAgent(kind));
  const agents =
    named.length > 0
      ? named
      : (await agentsHere())
          .filter(({ onPath, installed }) => onPath !== null || installed.length > 0)
          .map(({ agent }) => agent);
  const folders = agents.flatMap(({ kind, facts: { skills, projectSkills = SHARED } }) => {
    if (skills !== undefined) return user ? skills : projectSkills;
    if (named.length === 0) return [];
    throw new WhetstoneError('agent-option-unknown', `${kind} takes no skills.`, {
      hint: 'Tell it in its instructions to use the MCP server: whetstone mcp',
    });
  });
  return folders.length > 0 ? [...new Set(folders)] : [SHARED];
}

async function write(file: string): Promise<void> {
  try {
    makeEach(dirname(file));
    await writeFile(file, skillText(version));
  } catch (cause) {
    const hint = 'Make the folders above it ones that you may write to.';
    throw unwritable('The skill', file, cause, hint);
  }
}
