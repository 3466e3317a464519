import { assertTexts } from '../process/program-texts.ts';

/** A name that a shell can export. */
const NAME = /^[A-Za-z_]\w*$/;

/**
 * A script of `/bin/sh` that starts a program with exactly these variables. The library puts its own into the environment and
 * the command into a text of limited length. `forward`: a port of 127.0.0.1 that leads to another one there.
 * @throws Error with the `code` of `spawn` for texts that no program can be given
 */
export function startScript(
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  forward?: { from: number; to: number },
): string {
  assertTexts([...argv, ...Object.entries(env).flat()]);
  const entries = Object.entries(env);
  const exported = entries.filter(([name]) => NAME.test(name));
  const others = entries
    .filter(([name]) => !NAME.test(name))
    .map(([name, value]) => word(`${name}=${value}`));
  const program = argv.map(word).join(' ');
  return [
    'unset PWD OLDPWD SHLVL _',
    ...(forward
      ? [
          `socat TCP-LISTEN:${forward.from},bind=127.0.0.1,fork,reuseaddr TCP:127.0.0.1:${forward.to} >/dev/null 2>&1 &`,
        ]
      : []),
    ...exported.map(([name, value]) => `export ${name}=${word(value)}`),
    others.length === 0 ? `exec ${program}` : `exec env ${others.join(' ')} ${program}`,
    '',
  ].join('\n');
}

/** A text as one word of the shell. */
export const word = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`;
