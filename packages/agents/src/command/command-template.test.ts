// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell and of the config
import { execFileSync, spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import type { Command } from '../config.ts';
import { COMMAND_VARIABLES, commandProblems, renderCommand } from './command-template.ts';

/** Prints the number of its arguments and each argument, NUL-terminated. */
const SHOW = 'show() { printf \'%s\\0\' "$#" "$@"; }\n';

/** Separates two calls in an expectation. No random value is as long. */
const BETWEEN_CALLS = '-'.repeat(200);

const shells = ['/bin/sh', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0);

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'template-'));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

function shell(script: string): Command {
  return { kind: 'shell', script };
}

function run(program: string, script: string): string[] {
  const output = execFileSync(program, ['-c', script], {
    cwd: folder,
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return output.split('\0').slice(0, -1);
}

function rendered(template: string, prompt: string): string {
  const command = renderCommand(shell(template), { prompt });
  if (command.kind !== 'shell') throw new Error('expected a shell script');
  return command.script;
}

/** Random text with much that a shell could read as code. */
const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 6 }),
      fc.constantFrom(
        ...[
          '`touch pwned`',
          '$(touch pwned)',
          "'",
          '"',
          '\\',
          '\n',
          '$',
          '`',
          ';touch pwned;',
          '&',
          '|',
          '>pwned',
        ],
        ...[
          '${x}',
          '$((1))',
          '#',
          '!',
          '*',
          '~',
          '{',
          '}',
          ' ',
          '\t',
          '\r',
          'EOF',
          '\nEOF\n',
          "'; touch pwned; '",
        ],
        ...['"; touch pwned; "', "$'\\x41'", '-n', '%s', 'é', '漢', '🙂', '\u2028', ')', '))', ']', '}}'],
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

/** Templates and the arguments that `show` must receive. */
const PLACES: [template: string, expected: (value: string) => string[]][] = [
  ['show {prompt}', (value) => [value]],
  ['show "{prompt}"', (value) => [value]],
  ["show '{prompt}'", (value) => [value]],
  ['show --x={prompt}', (value) => [`--x=${value}`]],
  ['show "pre {prompt} post" x', (value) => [`pre ${value} post`, 'x']],
  ["show 'pre {prompt} post' x", (value) => [`pre ${value} post`, 'x']],
  ['show {prompt}{prompt} "{prompt}{prompt}"', (value) => [value + value, value + value]],
  ['show pre"mid {prompt}"\'end {prompt}\'{prompt}', (value) => [`premid ${value}end ${value}${value}`]],
  ['show "a \\"{prompt}\\" b"', (value) => [`a "${value}" b`]],
  ['show "\\$HOME \\\\ {prompt}"', (value) => [`$HOME \\ ${value}`]],
  ["show \\'{prompt}\\'", (value) => [`'${value}'`]],
  ["show '\\' {prompt}", (value) => ['\\', value]],
  ['show \'cost $\' "x$" {prompt}', (value) => ['cost $', 'x$', value]],
  ["show it\\'s {prompt} # it's {prompt}", (value) => ["it's", value]],
  ['show a#b{prompt} ;# "{prompt}\nshow 2 {prompt}', (value) => [`a#b${value}`, BETWEEN_CALLS, '2', value]],
  ['show \\\n  {prompt}', (value) => [value]],
  ['X={prompt} && show "$X" "{prompt}"', (value) => [value, value]],
  ['X="a {prompt}"; show "$X"', (value) => [`a ${value}`]],
  ['show "$(printf %s. {prompt})"', (value) => [`${value}.`]],
  ['show "$(printf %s. "{prompt}")"', (value) => [`${value}.`]],
  ['show "$(printf %s. \'{prompt}\')"', (value) => [`${value}.`]],
  ['show "pre $(printf %s. "a {prompt} b") {prompt} post"', (value) => [`pre a ${value} b. ${value} post`]],
  ['show "$(printf %s "$(printf %s. {prompt})")"', (value) => [`${value}.`]],
  ['show "$( (printf %s. {prompt}) )" {prompt}', (value) => [`${value}.`, value]],
  ['show "`printf %s. {prompt}`" "{prompt}"', (value) => [`${value}.`, value]],
  ['X=`printf %s. "{prompt}"`; show "$X" \'{prompt}\'', (value) => [`${value}.`, value]],
  ['show "${{UNSET:-its}}" {prompt} "a {prompt}"', (value) => ['its', value, `a ${value}`]],
  ['show $((1 + 2)) {prompt}', (value) => ['3', value]],
  ["cat <<EOF >/dev/null; show {prompt} '{prompt}'\nit's {prompt}\nEOF", (value) => [value, value]],
  ['X="$(cat <<EOF\na {prompt} `printf b`\nEOF\n)"; show "$X" {prompt}', (value) => [`a ${value} b`, value]],
  [
    'X=$(cat <<-"EOF"\n\tno $(touch pwned)\n\tEOF\n); show "$X" {prompt}',
    (value) => ['no $(touch pwned)', value],
  ],
  ['cat <<A <<B >/dev/null\n"\nA\n{prompt} \'\nB\nshow {prompt}', (value) => [value]],
];

describe('renderCommand in a shell script', () => {
  it.each(shells)('passes every value as text in every quoting state (%s)', (program) => {
    const property = fc.property(hostile, (value) => {
      const scripts = PLACES.map(([template]) => rendered(template, value));
      const received = run(program, SHOW + scripts.join(`\nprintf '%s\\0' ${BETWEEN_CALLS}\n`));
      const expected = PLACES.flatMap(([, argumentsFor], index) => [
        ...(index > 0 ? [BETWEEN_CALLS] : []),
        ...calls(argumentsFor(value)),
      ]);
      expect(received).toEqual(expected);
      expect(readdirSync(folder)).toEqual([]);
    });
    fc.assert(property, { numRuns: 60, examples: [['\u0001']] });
  });

  it.each(shells)('never runs part of a value in any accepted template (%s)', (program) => {
    const pieces = [
      "'",
      '"',
      '\\',
      '#',
      ' ',
      '\n',
      'a',
      ';',
      '|',
      '(',
      ')',
      '$(',
      '`',
      '$',
      '${{',
      '}}',
      '<<E\n',
      '\nE\n',
    ];
    const template = fc
      .array(
        fc.oneof(
          fc.constantFrom(...pieces, 'case a in a)', 'esac', '=', '\r', '[', '$((', '$[', "$'", '\\"'),
          fc.constant('{prompt}'),
        ),
        {
          minLength: 1,
          maxLength: 12,
        },
      )
      .map((parts) => parts.join(''));
    const attack = fc.constantFrom(
      ...[
        'touch pwned',
        "';touch pwned;'",
        '";touch pwned;"',
        '\ntouch pwned\n',
        '$(touch pwned)',
        '`touch pwned`',
      ],
      ...["\\';touch pwned;'", ')\ntouch pwned\n', '\'"\n`)touch pwned\n', '\nE\ntouch pwned\n'],
    );
    const script = fc
      .tuple(template, attack)
      .filter(([text]) => text.includes('{prompt}'))
      .filter(([text]) => commandProblems(shell(text), COMMAND_VARIABLES).length === 0)
      .map(([text, value]) => rendered(text, value));
    // A shell starts the shells: to start one from this process costs ten times as much.
    const all = ['-c', 'for script; do "$0" -c "$script"; done', program];
    const property = fc.property(fc.array(script, { minLength: 15, maxLength: 15 }), (scripts) => {
      spawnSync('/bin/sh', [...all, ...scripts], { cwd: folder, stdio: 'ignore' });
      expect(readdirSync(folder)).toEqual([]);
    });
    fc.assert(property, { numRuns: 10 });
  });

  it('assigns values before the script and references them', () => {
    const command = renderCommand(shell('codex exec -C {workspace} -p "{prompt}" - < {prompt_file}'), {
      workspace: '/w',
      prompt: "it's",
      prompt_file: '/p.md',
    });
    expect(command).toEqual({
      kind: 'shell',
      script: [
        "whetstone_workspace='/w'",
        "whetstone_prompt='it'\\''s'",
        "whetstone_prompt_file='/p.md'",
        'codex exec -C "${whetstone_workspace}" -p "${whetstone_prompt}" - < "${whetstone_prompt_file}"',
      ].join('\n'),
    });
  });

  it('leaves values out of comments, because a newline would end the comment', () => {
    expect(rendered(': # {prompt}', 'x\ntouch pwned')).toBe(': # ');
  });

  it.each([
    ['show \\{prompt}', 'backslash directly before'],
    ['show "\\{prompt}"', 'backslash directly before'],
    ['show ${prompt}', 'write {prompt}; a variable of the shell is ${{NAME}}'],
    ['show "${prompt}"', '$ directly before'],
    ['show $(({prompt}))', 'arithmetic'],
    ['show $[{prompt}]', 'arithmetic'],
    ['(( {prompt} ))', 'arithmetic'],
    ['show ${{X:-{prompt}}}', 'inside the shell'],
    ["cat <<'EOF'\n{prompt}\nEOF", 'quoted delimiter'],
    ['cat <<EOF\n$(echo {prompt})\nEOF', 'behind a command substitution'],
    ['cat <<{prompt}\n', 'delimiter of a here-document'],
    ["show '{prompt}", "a ' that is never closed"],
    ['show "{prompt}', 'a " that is never closed'],
    ['sh -c "agent {prompt}"', 'second shell'],
    ['FOO=1 bash -lc \'agent "{prompt}"\'', 'second shell'],
    ['/bin/sh -e -c agent\\ {prompt}', 'second shell'],
    ['cd x && eval "agent $X {prompt}"', 'second shell'],
    ['ssh host agent {prompt}', 'second shell'],
    ['A=1 exec ssh host agent {prompt}', 'second shell'],
    ['show {nope}', 'unknown variable {nope}'],
    ['show {}', '{} is not a variable'],
  ])('refuses %j', (template, reason) => {
    expect(() => renderCommand(shell(template), { prompt: 'x' })).toThrow(
      expect.objectContaining({ code: 'template-invalid', exitCode: 2 }),
    );
    const texts = commandProblems(shell(template), COMMAND_VARIABLES).map(
      ({ problem }) => `${problem.message} ${problem.hint ?? ''}`,
    );
    expect(texts.join('\n')).toContain(reason);
  });

  it('accepts a nested shell that gets the text as an argument or a file', () => {
    expect(rendered(`sh -c 'show "$1"' sh {prompt}`, 'a b')).toBe(
      `whetstone_prompt='a b'\nsh -c 'show "$1"' sh "\${whetstone_prompt}"`,
    );
    for (const template of [
      'bash -lc "agent < {prompt_file}"',
      'tool eval --prompt {prompt}',
      'agent -p "ssh {prompt}"',
    ]) {
      expect(commandProblems(shell(template), COMMAND_VARIABLES)).toEqual([]);
    }
  });

  it('refuses missing values and values that no process can receive', () => {
    expect(() => rendered('show {prompt}', 'x'.repeat(128 * 1024))).toThrow(/at most 128 KiB/);
    expect(() => rendered('show {prompt}', 'a\0b')).toThrow(
      expect.objectContaining({ code: 'template-value-invalid' }),
    );
    expect(() => renderCommand(shell('show {task_id}'), {})).toThrow(
      expect.objectContaining({ code: 'template-value-invalid' }),
    );
  });
});

/** `show` prints its number of arguments first; `BETWEEN_CALLS` in the expectation separates two calls. */
function calls(expected: string[]): string[] {
  const at = expected.indexOf(BETWEEN_CALLS);
  if (at === -1) return [String(expected.length), ...expected];
  return [String(at), ...expected.slice(0, at), ...calls(expected.slice(at + 1))];
}

describe('renderCommand in an argument vector', () => {
  it('inserts values as they are, and keeps literal braces', () => {
    const command: Command = { kind: 'argv', argv: ['agent', '--json={{"p": "{prompt}"}}', '{workspace}'] };
    expect(renderCommand(command, { prompt: "$(x) '", workspace: '/w' })).toEqual({
      kind: 'argv',
      argv: ['agent', '--json={"p": "$(x) \'"}', '/w'],
    });
  });

  it('refuses task text in a shell script', () => {
    const command: Command = { kind: 'argv', argv: ['/bin/bash', '-c', 'agent {prompt}'] };
    expect(() => renderCommand(command, { prompt: 'x' })).toThrow(/second shell/);
  });
});
