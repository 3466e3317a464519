import { parsePatch } from './parse-patch.js';

/** @typedef {{ path: string, line: number }} FailedPlace */
/** @typedef {{ name: string, lines: { number: number | null | undefined, text: string, isHere: boolean }[] }} Source */

/** `src/parser.js:12`, with or without a column. */
const LOCATION = /(?<path>[\w@./-]+\.\w+):(?<line>\d+)/;
const AROUND = 3;

/**
 * The places in files that the lines of an output name, below the root of the repository. Files that the clean room put back
 * are left out: what failed there is not what the agent left.
 * @param {readonly string[]} lines
 * @param {readonly string[]} putBack
 * @returns {FailedPlace[]}
 */
export const placesIn = (lines, putBack) =>
  lines.flatMap((line) => {
    const { path: named, line: number } = LOCATION.exec(line)?.groups ?? {};
    const path = named?.replace(/^.*?\/repo\//, '').replace(/^\.?\//, '');
    return path === undefined || putBack.includes(path) ? [] : [{ path, line: Number(number) }];
  });

/**
 * The first of the places that is in the patch, with the lines around it.
 * @param {readonly FailedPlace[]} places
 * @param {string} patch
 * @returns {Source | undefined}
 */
export function sourceInPatch(places, patch) {
  const files = parsePatch(patch.split('\n'));
  for (const { path: name, line: number } of places) {
    const file = files.find((one) => one.name.endsWith(` b/${name}`));
    const at = file?.lines.findIndex(({ now }) => now === number) ?? -1;
    if (file === undefined || at < 0) continue;
    const near = file.lines.slice(Math.max(0, at - AROUND), at + AROUND + 1);
    return {
      name: `${name}:${number}`,
      lines: near.map((one) => ({ number: one.now, text: one.text, isHere: one.now === number })),
    };
  }
  return undefined;
}
