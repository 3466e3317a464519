import {
  type ContextPlaces,
  instructionsOf,
  instructionsRead,
  isInstructionFile,
} from '@whetstone/agents/config';
import type { InstructionsConfig, OverlayOperation } from '../config/config.ts';
import { displayPath } from './tree-path.ts';

/** The instructions of a variant for one agent. */
export type VariantInstructions = {
  text: string;
  mode: InstructionsConfig['mode'];
  places: InstructionPlaces;
};

export type InstructionPlaces = Pick<ContextPlaces, 'instructions' | 'reads' | 'readsBelow'>;

export type PlacedInstructions = {
  overlays: OverlayOperation[];
  /** The file that has them. */
  path: string;
  /** The repository's own files that the agent no longer gets. */
  hides: string[];
};

/**
 * The paths that some agent takes for instructions, and `own`, as display paths. Those that are not UTF-8 are left out.
 */
export function instructionPaths(bytePaths: Iterable<string>, own?: string): string[] {
  const paths: string[] = [];
  for (const path of bytePaths) {
    if (isInstructionFile(path) || path === own) paths.push(displayPath(path));
  }
  return paths.filter((path) => !path.includes('\\'));
}

/**
 * Decides where the instructions of a variant go in a tree with these instruction files. `append` adds them to the first
 * file that the agent reads there, because a file of its own could hide that one; `replace` takes away every file that
 * the agent would read.
 */
export function placeInstructions(
  paths: ReadonlySet<string>,
  { text, mode, places }: VariantInstructions,
): PlacedInstructions {
  const { instructions: own, reads = [{ path: own }], readsBelow: below } = places;
  if (mode === 'append') {
    const files = instructionsRead(reads, paths);
    const path = files.find((file) => reads.some((one) => one.path === file)) ?? own;
    return { path, hides: [], overlays: [{ kind: 'append', text, target: path }] };
  }
  const hides = instructionsOf(reads, paths, { below });
  const removed = hides.filter((path) => path !== own);
  const removal: OverlayOperation[] = removed.length > 0 ? [{ kind: 'remove', paths: removed }] : [];
  return { path: own, hides, overlays: [...removal, { kind: 'write', text, target: own }] };
}
