import { readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { type AgentConfig, contextPlacesOf } from '@whetstone/agents/config';
import type { JsonObject } from '@whetstone/events';
import type { Lane } from '@whetstone/gateway';
import type { CaseRow } from '../record/row.ts';
import { skillBody } from './declared-text.ts';
import { extentOf, type FirstRequest } from './watch-requests.ts';

/** The instruction files of a tree, by path, with their texts. */
export type InstructionTexts = ReadonlyMap<string, string>;

/** More files than anybody compares, and longer ones than any agent reads. */
const MOST_FILES = 200;
const MOST_BYTES = 1024 * 1024;

/** Reads them before the agent starts. `paths`: those of the prepared tree; setup may have made those of the agent too. */
export async function readInstructionFiles(
  root: string,
  paths: readonly string[],
  agent: AgentConfig,
): Promise<InstructionTexts> {
  const { instructions, reads = [] } = contextPlacesOf(agent);
  const own = [instructions, ...reads.map(({ path }) => path)];
  const texts = new Map<string, string>();
  for (const path of new Set([...own, ...paths.slice(0, MOST_FILES)])) {
    const found = await stat(join(root, path)).catch(() => undefined);
    if (!found?.isFile() || found.size > MOST_BYTES) continue;
    const text = await readFile(join(root, path), 'utf8').catch(() => '');
    if (text.trim() !== '') texts.set(path, text);
  }
  return texts;
}

/**
 * What the first model request of a case had. `names`: the texts that differ between two cases, each with its
 * replacement, so that equal requests of two cases have equal hashes. `commit`: that of the workspace, which agents name.
 */
export async function describeFirstRequest(
  first: FirstRequest,
  files: InstructionTexts,
  { lane, names, commit }: { lane: Lane; names: Readonly<Record<string, string>>; commit: string },
): Promise<Required<Pick<CaseRow, 'first_request' | 'instruction_files'>>> {
  const { canonicalRequest } = await import('@whetstone/gateway');
  const line = lane.ledger.find(({ id }) => id === first.call);
  const { key } = canonicalRequest({
    method: 'POST',
    path: line?.path ?? '',
    body: withoutListing(first.body),
    family: line?.agent_family ?? 'unknown',
    names: {
      ...names,
      ...slugs(names),
      [lane.baseUrl]: '<lane>',
      [lane.key]: '<lane-key>',
      ...commitNames(commit),
    },
  });
  const instruction_files = [...files].map(([path, text]) => ({
    path,
    // Agents take away the front matter of a rule.
    in_first_request: extentOf(skillBody(text), first.text) ?? ('no' as const),
  }));
  return { first_request: key, instruction_files };
}

/** Gemini CLI and Qwen Code begin with a tree of the folder, in which every file of an overlay has a line. */
function withoutListing(body: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(body), (_, part: unknown) =>
    typeof part === 'string' ? part.replaceAll(/^[│ ]*[├└]─+.*\n?/gm, '') : part,
  );
}

/** How agents write a folder's path when they name a file or a folder after it. */
const slugs = (names: Readonly<Record<string, string>>): Record<string, string> =>
  Object.fromEntries(
    Object.entries(names).map(([path, name]) => [path.replaceAll(/[^A-Za-z0-9]/g, '-'), `${name}-slug`]),
  );

/** Git shortens an id to what is unique, which depends on the size of the repository. */
const commitNames = (commit: string): Record<string, string> =>
  Object.fromEntries([7, 8, 9, 10, 11, 12, commit.length].map((end) => [commit.slice(0, end), '<commit>']));
