import {
  type AgentConfig,
  contextPlacesOf,
  instructionsRead,
  isRootInstructionFile,
} from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import type { Config, OverlayOperation, VariantConfig } from '../config/config.ts';
import { instructionPlaces, instructionsFor } from './instructions-for.ts';
import { listCommit } from './list-commit.ts';
import { overlaidPaths } from './overlaid-paths.ts';
import { type InstructionPlaces, instructionPaths, placeInstructions } from './place-instructions.ts';
import { type CommitTree, reachedFiles } from './reached-files.ts';
import { openRepository } from './repository.ts';
import { type Withheld, withheldBy } from './withheld.ts';

/** Which instruction files an agent of a known kind gets from a variant, found without starting anything. */
export type InstructionPreview = {
  variant: string;
  agent: string;
  /** In the order of its first request, then what these lead to as symlinks and imports. */
  reads: string[];
  /** Where the instructions of the variant go; `null` where it has none. */
  placed: { path: string; mode: 'append' | 'replace' } | null;
  /** Files of the repository that `replace` takes from the agent. */
  hides: string[];
  /** How the overlays change what the agent reads without saying so, in sentences. */
  warnings: string[];
};

/**
 * Looks at the tree of each commit as a run would make it, per variant and agent. What is read is that of the first
 * commit; the warnings are those of all.
 */
export async function previewInstructions(input: {
  config: Pick<Config, 'repo'>;
  commits: Iterable<string>;
  variants: readonly VariantConfig[];
  agents: readonly AgentConfig[];
  withheld: readonly Withheld[];
}): Promise<InstructionPreview[]> {
  if (input.variants.length === 0) return [];
  const { gitDir } = await openRepository(input.config.repo.path);
  const isWithheld = withheldBy(input.withheld);
  const previews = new Map<string, InstructionPreview>();
  for (const commit of new Set(input.commits)) {
    const tree: CommitTree = {
      gitDir,
      entries: await listCommit(gitDir, commit, isWithheld),
      blobs: new Map(),
    };
    for (const variant of input.variants) {
      for (const agent of input.agents) {
        const preview = await previewOf(tree, variant, agent);
        if (!preview) continue;
        const known = previews.get(`${variant.name}\0${agent.name}`);
        if (known) known.warnings = [...new Set([...known.warnings, ...preview.warnings])];
        else previews.set(`${variant.name}\0${agent.name}`, preview);
      }
    }
  }
  return [...previews.values()];
}

async function previewOf(
  tree: CommitTree,
  variant: VariantConfig,
  agent: AgentConfig,
): Promise<InstructionPreview | undefined> {
  const places = instructionPlaces(agent);
  const { reads } = places;
  if (!reads) return undefined;
  const { overlays } = variant;
  const before = new Set(instructionPaths(tree.entries.keys(), places.instructions));
  const after = await overlaidPaths(before, overlays);
  const instructions = instructionsFor(variant, agent);
  const placed = instructions && placeInstructions(after, instructions);
  const all = [...overlays, ...(placed?.overlays ?? [])];
  const reader: Reader = async (operations) => {
    const from = instructionsRead(reads, await overlaidPaths(before, operations));
    const { imports } = contextPlacesOf(agent);
    return [...from, ...(await reachedFiles(tree, operations, { from, ...present({ imports }) }))];
  };
  return {
    variant: variant.name,
    agent: agent.name,
    reads: await reader(all),
    placed: placed && instructions ? { path: placed.path, mode: instructions.mode } : null,
    hides: placed?.hides ?? [],
    warnings: await warningsOf({ before, after, variant, agent: agent.name, places, reader }),
  };
}

/** What an agent reads of a tree after these overlays. */
type Reader = (overlays: readonly OverlayOperation[]) => Promise<string[]>;

async function warningsOf(change: {
  before: ReadonlySet<string>;
  after: ReadonlySet<string>;
  variant: VariantConfig;
  agent: string;
  places: InstructionPlaces;
  reader: Reader;
}): Promise<string[]> {
  const { before, after, variant, agent, places, reader } = change;
  const put = await overlaidPaths([], variant.overlays);
  // Folders below are read only when the agent works there.
  const laid = [...put].filter(isRootInstructionFile);
  if (laid.length === 0 && [...before].every((path) => after.has(path))) return [];
  const had = await reader([]);
  const has = await reader(variant.overlays);
  const unseen = laid.some((path) => has.includes(path)) ? [] : laid;
  const whose = `of the variant ${variant.name}`;
  return [
    ...unseen.map((path) => `${agent} does not read the ${path} ${whose}${because(path, after, places)}.`),
    ...had
      .filter((path) => after.has(path) && !has.includes(path) && !unseen.includes(path))
      .map((path) => `${agent} no longer reads ${path} because ${whose}${because(path, after, places)}.`),
    ...has
      .filter((path) => before.has(path) && !had.includes(path) && !put.has(path))
      .map((path) => `${agent} now reads ${path}, which a file hid that the overlays ${whose} take away.`),
  ];
}

function because(path: string, paths: ReadonlySet<string>, { reads = [] }: InstructionPlaces): string {
  const { hiddenBy = [] } = reads.find((one) => one.path === path) ?? {};
  const hiding = hiddenBy.filter((one) => paths.has(one));
  return hiding.length === 0 ? '' : `: ${hiding.join(' and ')} hides it`;
}

/** What a reader of a comparison must know of these previews, in sentences. */
export function instructionNotes(previews: readonly InstructionPreview[]): string[] {
  return previews.flatMap(({ agent, variant, hides, warnings }) => [
    ...warnings,
    ...(hides.length > 0
      ? [`The instructions of the variant ${variant} replace ${hides.join(', ')} for ${agent}.`]
      : []),
  ]);
}
