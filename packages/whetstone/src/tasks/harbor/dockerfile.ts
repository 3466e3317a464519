import { posix } from 'node:path';
import { shellWord } from '../../workspace/shell-word.ts';

/** What a Dockerfile makes of the files beside it. */
export type Dockerfile = {
  /** Absolute: the last `WORKDIR`. */
  workdir: string;
  /** `from` is relative to the folder of the Dockerfile, `to` to the working directory. */
  copies: { from: string; to: string; isFolder: boolean }[];
  /** Shell commands, each in the working directory. */
  runs: string[];
  /** Variables of the image. */
  env: Record<string, string>;
};

/** Without a meaning for the files of a workspace. */
const IGNORED = new Set([
  'LABEL',
  'EXPOSE',
  'CMD',
  'ENTRYPOINT',
  'STOPSIGNAL',
  'MAINTAINER',
  'SHELL',
  'HEALTHCHECK',
]);
/** What only root of a machine of its own can do. */
const SYSTEM =
  /\b(?:apt-get|apt|apk|dnf|yum|pacman|useradd|adduser|groupadd|systemctl|chown)\b|npm (?:i|install) (?:-g|--global)|>\s*\/(?!dev\/)/;

/** Reads a Dockerfile whose result is files of a workspace. A text: what in it is more than that. */
export function readDockerfile(text: string): Dockerfile | string {
  const copies: { from: string; to: string; isFolder: boolean }[] = [];
  const runs: { script: string; at: string }[] = [];
  const env: Record<string, string> = {};
  let workdir: string | undefined;
  let stages = 0;
  for (const line of instructionsOf(text)) {
    const [, name = '', rest = ''] = /^(\w+)\s+(.*)$/s.exec(line) ?? [];
    const instruction = name.toUpperCase();
    const refuse = (why: string) => `${why}: ${line.slice(0, 100)}`;
    if (IGNORED.has(instruction)) continue;
    if (/<<-?["']?\w/.test(rest)) return refuse('its Dockerfile has a here-document');
    if (instruction === 'FROM') {
      stages += 1;
      if (stages > 1) return refuse('its Dockerfile has several stages');
    } else if (instruction === 'WORKDIR') {
      if (rest.includes('$')) return refuse('its Dockerfile uses variables');
      workdir = posix.resolve(workdir ?? '/', rest.trim().replace(/^["']|["']$/g, ''));
    } else if (instruction === 'ENV') {
      const pairs = [...rest.matchAll(/([A-Za-z_]\w*)=("(?:[^"\\]|\\.)*"|'[^']*'|\S*)/g)];
      if (pairs.length === 0 || rest.includes('$'))
        return refuse('its Dockerfile sets variables in a way that is not read');
      for (const [, key = '', value = ''] of pairs) env[key] = value.replace(/^(["'])(.*)\1$/s, '$2');
    } else if (instruction === 'RUN') {
      if (rest.startsWith('--')) return refuse('its Dockerfile runs a command with mounts');
      if (SYSTEM.test(rest)) return refuse('its Dockerfile changes the system');
      const words = jsonWords(rest);
      runs.push({ script: words ? scriptOf(words) : rest, at: workdir ?? '/' });
    } else if (instruction === 'COPY' || instruction === 'ADD') {
      const words = jsonWords(rest) ?? rest.split(/\s+/);
      const [target = '', ...sources] = words
        .filter((word) => !/^--(?:chown|chmod|link)\b/.test(word))
        .reverse();
      if (
        sources.some((one) => /^--|^https?:|[*?$[]|^git@|^\//.test(one)) ||
        sources.length === 0 ||
        target.includes('$')
      )
        return refuse('its Dockerfile copies in a way that is not read');
      const to = posix.resolve(workdir ?? '/', target);
      for (const from of sources.reverse())
        copies.push({
          from: posix.normalize(from),
          to,
          isFolder: sources.length > 1 || /(?:^|\/)\.?$/.test(target),
        });
    } else return refuse('its Dockerfile has an instruction that a workspace cannot have');
  }
  if (workdir === undefined || workdir === '/') return 'its Dockerfile sets no WORKDIR';
  const root = workdir;
  const outside = copies.find(({ to }) => to !== root && !to.startsWith(`${root}/`));
  if (outside) return `its Dockerfile copies ${outside.from} to ${outside.to}, which is outside of ${root}`;
  const elsewhere = runs.find(({ at, script }) => at !== root || namesPath(script, root));
  if (elsewhere)
    return `its Dockerfile runs a command that depends on the path of the container: ${elsewhere.script.slice(0, 100)}`;
  return {
    workdir: root,
    copies: copies.map(({ to, ...one }) => ({ ...one, to: posix.relative(root, to) })),
    runs: runs.map(({ script }) => script),
    env,
  };
}

/** Whether a text names a path or something below it. */
export const namesPath = (text: string, path: string): boolean =>
  new RegExp(`(?<![\\w/.-])${path.replace(/[^\w/]/g, '\\$&')}(?![\\w-])`).test(text);

/** Lines joined at their backslashes, without comments. */
function instructionsOf(text: string): string[] {
  const lines = text
    .replace(/\r\n/g, '\n')
    .split('\n')
    .filter((line) => !/^\s*#/.test(line));
  return lines
    .join('\n')
    .replace(/\\[ \t]*\n/g, ' ')
    .split('\n')
    .map((line) => line.trim())
    .filter(Boolean);
}

const scriptOf = (words: readonly string[]): string =>
  words.length === 3 && words[0] === '/bin/sh' && words[1] === '-c'
    ? (words[2] ?? '')
    : words.map(shellWord).join(' ');

/** The words of an instruction in the form of a JSON list. */
function jsonWords(text: string): string[] | undefined {
  if (!text.startsWith('[')) return undefined;
  try {
    const words: unknown = JSON.parse(text);
    return Array.isArray(words) ? words.map(String) : undefined;
  } catch {
    return undefined;
  }
}
