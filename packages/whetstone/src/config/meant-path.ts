import { readdirSync } from 'node:fs';
import { basename, dirname } from 'node:path';
import { didYouMean } from '@whetstone/errors/did-you-mean';

/** `did you mean x?` with the name of a file or folder beside a path that does not exist, if one is much like it. */
export function meantPath(path: string): string | undefined {
  try {
    const meant = didYouMean(basename(path), readdirSync(dirname(path)));
    return meant && `did you mean ${meant}?`;
  } catch {
    return undefined;
  }
}
