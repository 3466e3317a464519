import type { FoundFunction } from './find-functions.ts';

const lastOf = (name: string): string => name.split('.').at(-1) ?? name;

/** A function is not meant where another object has a property of its name. */
function word(name: string): RegExp {
  const own = lastOf(name).replaceAll('$', '\\$&');
  return new RegExp(`(?<![\\w$]${own === name ? '|(?<!\\.\\.)\\.' : ''})${own}(?![\\w$])`, 'g');
}

const COMMENT_LINES = /^[ \t]*(?:\*|\/[/*]).*$/gm;

/**
 * The names by which other files can reach functions of a file: those of the functions there that use them, directly or not,
 * and of the classes of these. `undefined`: they cannot be known, because code outside of functions uses one of them as well,
 * or because one has no name.
 */
export function reachingNames(
  functions: readonly FoundFunction[],
  all: readonly FoundFunction[],
  text: string,
): string[] | undefined {
  const reaching = new Set(functions);
  for (const { name } of reaching) {
    const own = word(name);
    for (const other of all) if (text.slice(other.from, other.to).search(own) >= 0) reaching.add(other);
  }
  let outside = text;
  for (const { from, to } of all.toReversed()) outside = outside.slice(0, from) + outside.slice(to);
  outside = outside.replace(COMMENT_LINES, '');
  for (const { name } of reaching) {
    // Its declaration, and nothing else.
    if (name === 'default' || (outside.match(word(name))?.length ?? 0) !== 1) return undefined;
  }
  const users = [...reaching].filter((one) => !functions.includes(one));
  return [...new Set(users.flatMap(({ name }) => name.split('.')))];
}
