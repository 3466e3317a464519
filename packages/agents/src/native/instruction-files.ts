import { loopInstructions } from '../loop/loop-facts.ts';
import type { InstructionFile, NativeAgent } from './native-agent.ts';
import { nativeAgents } from './native-agents.ts';

type Paths = ReadonlySet<string>;

/**
 * The instruction files at the root that an agent gives to its model, in the order of its first request, out of the
 * files of a tree. Paths are `/` separated. Only the agent's defaults: its settings and imports can name more.
 */
export function instructionsRead(reads: readonly InstructionFile[], paths: Paths): string[] {
  return reads
    .filter(({ hiddenBy = [] }) => !hiddenBy.some((path) => paths.has(path)))
    .flatMap(({ path }) => inPlace(path, paths));
}

/** All of them, also those that another one hides; with `below`, in every folder. */
export function instructionsOf(
  reads: readonly InstructionFile[],
  paths: Paths,
  { below = false }: { below?: boolean | undefined } = {},
): string[] {
  if (!below) return reads.flatMap(({ path }) => inPlace(path, paths));
  const isOne = namedLike(reads, '(?:^|/)');
  return [...paths].filter((path) => isOne.test(path));
}

/** Whether some agent that Whetstone knows takes a file for its instructions, at the root or in a folder below. */
export const isInstructionFile = (path: string): boolean => anywhere.test(path);

/** The same at the root only. */
export const isRootInstructionFile = (path: string): boolean => atRoot.test(path);

function inPlace(path: string, paths: Paths): string[] {
  if (path.endsWith('.md') || path.endsWith('.MD')) return paths.has(path) ? [path] : [];
  return [...paths].filter((one) => one.startsWith(`${path}/`) && one.endsWith('.md')).sort();
}

function namedLike(reads: readonly InstructionFile[], start: string): RegExp {
  const names = reads.map(({ path }) => {
    const name = path.replaceAll('.', '\\.');
    return /\.md$/i.test(path) ? name : `${name}/.+\\.md`;
  });
  return new RegExp(`${start}(?:${[...new Set(names)].join('|')})$`);
}

const all = [
  ...Object.values<NativeAgent>(nativeAgents).flatMap(({ facts }) => [
    { path: facts.instructions },
    ...(facts.reads ?? []),
  ]),
  ...Object.values(loopInstructions).flat(),
];
/** Patterns of the same files for other programs, such as the trigger of a workflow. */
export const instructionPatterns = (): string[] =>
  [...new Set(all.map(({ path }) => (/\.md$/i.test(path) ? `**/${path}` : `**/${path}/**`)))].sort();

const anywhere = namedLike(all, '(?:^|/)');
const atRoot = namedLike(all, '^');
