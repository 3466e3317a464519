// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell and of the config
import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { anyCharacter } from '../../../events/src/__fixtures__/any-character.ts';
import { COMMAND_VARIABLES, commandProblems, renderCommand } from './command-template.ts';

const shells = ['/bin/sh', 'bash'].filter((shell) => spawnSync(shell, ['-c', ':']).status === 0);

/** Stays empty: a value that runs leaves a file here. */
let folder: string;
/** Contains the program `show`, which prints the number of its arguments and each argument, NUL-terminated. */
let programs: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'injection-'));
  programs = mkdtempSync(join(tmpdir(), 'injection-programs-'));
  writeFileSync(join(programs, 'show'), '#!/bin/sh\nprintf \'%s\\0\' "$#" "$@"\n', { mode: 0o755 });
});
afterAll(() => {
  for (const path of [folder, programs]) rmSync(path, { recursive: true, force: true });
});

type Values = { prompt: string; task_id: string };

function run(shell: string, template: string, values: Values) {
  const command = renderCommand({ kind: 'shell', script: template }, values);
  if (command.kind !== 'shell') throw new Error('expected a shell script');
  const { stdout, stderr } = spawnSync(shell, ['-c', command.script], {
    cwd: folder,
    encoding: 'utf8',
    env: { PATH: `${programs}:${process.env.PATH}` },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  return { calls: stdout.split('\0').slice(0, -1), stdout, stderr };
}

const hostile = fc
  .array(
    fc.oneof(
      fc.string({ unit: anyCharacter, maxLength: 6 }),
      fc.constantFrom(...'\'"\\\n\r\t $`;&|<>()[]{}#!*?~=-'.split('')),
      fc.constantFrom(
        '$(touch pwned)',
        '`touch pwned`',
        '\ntouch pwned\n',
        "';touch pwned;'",
        '";touch pwned;"',
      ),
      fc.constantFrom(
        '${x}',
        '$((1))',
        '\nE\n',
        '\n\n',
        '--',
        '-n',
        '-e',
        '%s',
        "$'\\x41'",
        'é',
        '漢',
        '🙂',
        '\u2028',
      ),
    ),
    { maxLength: 8 },
  )
  .map((parts) => parts.join('').replaceAll('\0', ''));

/** A piece of a template, and what the shell makes of it. */
type Piece = { template: string; text: (values: Values) => string };
/** Lines of a template, and the arguments of each call of `show`. */
type Lines = { template: string; calls: (values: Values) => string[][] };

const literal = (...texts: string[]): fc.Arbitrary<Piece> =>
  fc.constantFrom(...texts.map((text) => ({ template: text.replace(/[{}]/g, '$&$&'), text: () => text })));
const escaped = (...characters: string[]): fc.Arbitrary<Piece> =>
  fc.constantFrom(...characters.map((text) => ({ template: `\\${text}`, text: () => text })));
/** Up to four pieces, with something around them, and what the shell makes of their text. */
const around = (
  before: string,
  inner: fc.Arbitrary<Piece>,
  after: string,
  change = (text: string) => text,
): fc.Arbitrary<Piece> =>
  fc.array(inner, { maxLength: 4 }).map((pieces) => ({
    template: `${before}${pieces.map(({ template }) => template).join('')}${after}`,
    text: (values) => change(pieces.map(({ text }) => text(values)).join('')),
  }));
const withDot = (text: string) => `${text}.`;

const value: fc.Arbitrary<Piece> = fc.constantFrom(
  { template: '{prompt}', text: ({ prompt }) => prompt },
  { template: '{task_id}', text: ({ task_id }) => task_id },
);
const plain = fc.oneof(value, value, literal('a', 'bc', '-x', '=', '.', ',', '%s', '@', '1'));
const inSingle = fc.oneof(plain, literal('"', '\\', '$', '`', '#', '\n', ';', '$(x)', '${y}', '{z}', '<<E'));
const inDouble = fc.oneof(
  plain,
  literal("'", "it's", '#', ' ', '\n', ';', '(', ')', '|', '<<E', '{z}', '*', 'é', '\\a'),
  escaped('"', '$', '`', '\\'),
);
const inHereDocument = fc.oneof(
  plain,
  literal("'", '"', "it's", '#', ' ', '\n E', '\n', '(', ')', '{z}'),
  escaped('$', '`', '\\'),
);

const { lines } = fc.letrec<{ word: Piece; lines: Lines }>((tie) => ({
  word: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc.oneof(
      plain,
      escaped("'", '"', '\\', '$', ' ', '#', ';', '(', '*', '<'),
      fc.constantFrom<Piece>(
        { template: '"${{UNSET-it}}"', text: () => 'it' },
        { template: '$((1 + (2)))', text: () => '3' },
        { template: '"$#"', text: () => '0' },
        { template: '\\\n', text: () => '' },
        { template: '"$(printf %s \\))"', text: () => ')' },
      ),
      around("'", inSingle, "'"),
      around('"', inDouble, '"'),
      around('"$(cat <<E\n-', inHereDocument, '.\nE\n)"', (text) => `-${text}.`),
      around('"`printf %s. "', fc.oneof(plain, literal(' ', ';')), '"`"', withDot),
      around('"`printf %s. \\"', fc.oneof(plain, literal(' ', ';')), '\\"`"', withDot),
    ),
    around('"$(printf %s. ""', tie('word'), ')"', withDot),
    around('"$( (printf %s. ""', tie('word'), ') )"', withDot),
    around('"$(case a in a) printf %s. ""', tie('word'), ';; esac)"', withDot),
    around('"$(# it\'s {prompt} `\n printf %s. ""', tie('word'), ')"', withDot),
  ),
  lines: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    fc
      .tuple(
        fc.constantFrom(
          'show',
          'cd . && show',
          'A={prompt} show',
          'exec 3>&1; show',
          'sh -c \'show "$@"\' sh',
        ),
        fc.array(around('""', tie('word'), ''), { minLength: 1, maxLength: 3 }),
        fc.constantFrom('', " # it's {prompt}", ' </dev/null', ' 2>&1', ' | cat', ' <<E\n{prompt}\n "\nE'),
      )
      .map(
        ([program, words, end]): Lines => ({
          template: `${program} ${words.map(({ template }) => template).join(' ')}${end}\n`,
          calls: (values) => [words.map(({ text }) => text(values))],
        }),
      ),
    around('X=', tie('word'), '\nshow "$X"\n').map(
      ({ template, text }): Lines => ({
        template,
        calls: (values) => [[text(values)]],
      }),
    ),
    fc
      .tuple(
        fc.constantFrom(
          ['{{ ', '}}\n'],
          ['( ', ')\n'],
          ['if true; then ', 'fi\n'],
          ['for i in 1; do ', 'done\n'],
          ['case x in (y) ;; x) ', '\n;; esac\n'],
          ['f() {{\n', '}}\nf\n'],
          ["cat <<E >/dev/null; :\nit's {prompt}\nE\n", ''],
          ["cat <<'E' >/dev/null # it's\n\"$(\nE\n", ''],
        ),
        tie('lines'),
      )
      .map(([[before, after], { template, calls }]) => ({ template: `${before}${template}${after}`, calls })),
    fc.tuple(tie('lines'), tie('lines')).map(
      ([one, other]): Lines => ({
        template: one.template + other.template,
        calls: (values) => [...one.calls(values), ...other.calls(values)],
      }),
    ),
  ),
}));

const preludes = [
  '',
  '#!/bin/sh\n',
  "# it's a comment\n",
  'set -eu\n',
  'set -a; set -f\n',
  'cd . || exit 1\n',
];

describe('a value in a random script', () => {
  it.each(shells)('reaches the program byte for byte (%s)', (shell) => {
    const property = fc.property(
      fc.constantFrom(...preludes),
      lines,
      fc.record({ prompt: hostile, task_id: hostile }),
      (prelude, { template, calls }, values) => {
        const received = run(shell, prelude + template, values);
        expect(received).toMatchObject({
          calls: calls(values).flatMap((call) => [String(call.length), ...call]),
          stderr: '',
        });
        expect(readdirSync(folder)).toEqual([]);
      },
    );
    fc.assert(property, { numRuns: 60 });
  });
});

describe('a value', () => {
  const prompt = 'sk-free-text';

  it.each(shells)('is a shell variable, not an environment variable (%s)', (shell) => {
    const { stdout, stderr } = run(shell, 'set -a; A={prompt}; env', { prompt, task_id: '' });
    expect(stderr).toBe('');
    expect(stdout).toContain(`A=${prompt}`);
    expect(stdout).not.toContain('whetstone_');
  });

  it('is assigned once, however often the script uses it', () => {
    const template = 'show {prompt} "{prompt}" \'{prompt}\' $(show {prompt})';
    const { script } = renderCommand({ kind: 'shell', script: template }, { prompt }) as { script: string };
    expect(script.split(prompt)).toHaveLength(2);
  });

  it.each([
    ['show {prompt}; show {prompt}', 70, undefined],
    ['show "{prompt}{prompt}"', 70, /at most 128 KiB/],
    ['show {prompt} {task_id}', 70, /at most 128 KiB/],
  ])('in %j with %i KiB: the error is %j', (template, kibibytes, error) => {
    const text = 'x'.repeat(kibibytes * 1024);
    const rendering = () => run('/bin/sh', template, { prompt: text, task_id: text });
    if (error) expect(rendering).toThrow(error);
    else expect(rendering().calls).toEqual(['1', text, '1', text]);
  });

  it.each(['/bin/sh -c "show \0"', 'show \0{prompt}'])(
    'cannot stand next to a NUL character: %j',
    (template) => {
      const problems = commandProblems({ kind: 'shell', script: template }, COMMAND_VARIABLES);
      expect(problems[0]?.problem).toMatchObject({ message: expect.stringContaining('NUL'), length: 1 });
    },
  );
});

describe('task text that a nested shell would read', () => {
  const forms = [
    'sh -c "agent VALUE"',
    "sh -c 'agent VALUE'",
    'sh -c agent\\ VALUE',
    'bash -lc "agent VALUE"',
    'bash -ce "agent VALUE"',
    'bash -o pipefail -c "agent VALUE"',
    'bash --norc -e -c "agent VALUE"',
    '/usr/bin/dash -c "agent VALUE"',
    '$SHELL -c "agent VALUE"',
    '"${{SHELL}}" -lc "agent VALUE"',
    'sh -c "$(cat <<E\nagent VALUE\nE\n)"',
    'A=1 B="x y" sh -c "agent VALUE"',
    'eval agent VALUE',
    'eval "agent VALUE"',
    'command eval "agent VALUE"',
    'trap "agent VALUE" EXIT',
    'alias a="agent VALUE"',
    'let VALUE',
    'ssh host agent VALUE',
    'ssh -p 22 host "agent VALUE"',
    '/usr/bin/ssh host -- agent VALUE',
    'exec ssh host agent VALUE',
    'timeout 9 ssh host agent VALUE',
    'su -c "agent VALUE"',
    'su - user -c "agent VALUE"',
    'su user --command="agent VALUE"',
    'runuser -u user -- sh -c "agent VALUE"',
    'sudo -u user bash -c "agent VALUE"',
    'xargs sh -c "agent VALUE"',
    'xargs -n 1 ssh host agent VALUE',
    'env -i sh -c "agent VALUE"',
    'env -S "agent VALUE"',
    'env -iS "agent VALUE"',
    'env --split-string="agent VALUE"',
    'find . -name x -exec sh -c "agent {{}} VALUE" \\;',
    'docker exec box bash -c "agent VALUE"',
    'watch "sh -c \'agent VALUE\'"',
    'bash <<E\nagent VALUE\nE\n',
    'sh -s one <<E\nagent VALUE\nE\n',
    'ssh -p 22 host <<E\nagent VALUE\nE\n',
    'bash <<< "agent VALUE"',
    'echo "agent VALUE" | sh',
    'printf %s "agent VALUE" | sudo bash',
  ];
  const places = [
    'FORM',
    'cd x && FORM',
    'if true; then FORM\nfi',
    'for i in 1; do FORM\ndone',
    'case x in x) FORM\n;; esac',
    'f() {{\nFORM\n}}',
    '(FORM\n)',
    'X=$(FORM\n)',
    'show "a $(FORM\n) b" c',
    "true # it's\nFORM",
  ];
  const problemsOf = (script: string) =>
    commandProblems({ kind: 'shell', script }, COMMAND_VARIABLES).map(({ problem }) => ({
      message: problem.message,
      marked: script.slice(problem.offset, problem.offset + problem.length),
    }));

  it.each(forms)('is refused in %j anywhere in a script', (form) => {
    for (const place of places) {
      for (const variable of ['{prompt}', '{task_id}', '{variant}']) {
        const script = place.replace('FORM', () => form.replace('VALUE', variable));
        const refused = [{ message: expect.stringContaining('second shell'), marked: variable }];
        expect({ script, problems: problemsOf(script) }).toEqual({ script, problems: refused });
      }
    }
  });

  it.each(forms)('may be replaced by a path that Whetstone makes: %j', (form) => {
    for (const place of places) {
      const script = place.replace('FORM', () => form.replace('VALUE', '{prompt_file}'));
      expect({ script, problems: problemsOf(script) }).toEqual({ script, problems: [] });
    }
  });

  it.each([
    `sh -c 'agent "$1"' sh {prompt}`,
    'sh run.sh -c {prompt}',
    'bash run.sh <<E\n{prompt}\nE',
    `bash -c 'agent -' <<E\n{prompt}\nE`,
    'ssh host agent <<E\n{prompt}\nE',
    'printf %s {prompt} | agent',
    `printf %s {prompt} | sh -c 'agent -'`,
    `find . -exec sh -c 'agent "$1"' sh {prompt} \\;`,
    'env A=1 agent -S {prompt}',
    'agent --config {prompt} -c sh',
    'agent --shell bash <<E\n{prompt}\nE',
    'agent trap {prompt}',
    'git -c x={prompt} status',
    'echo ssh; agent {prompt}',
    '# sh -c "{prompt}"\nagent',
  ])('is accepted where the shell only reads text: %j', (script) => {
    expect(problemsOf(script)).toEqual([]);
  });

  it.each([
    [['bash', '-o', 'pipefail', '-lc', 'agent {prompt}'], 4],
    [['env', 'A=1', '/bin/sh', '-c', 'agent {task_id}'], 4],
    [['su', '-', 'user', '-c', 'agent {variant}'], 4],
    [['env', '-S', 'agent {prompt}'], 2],
    [['ssh', 'host', 'agent', '{prompt}'], 3],
    [['sh', '-c', 'agent "$1"', 'sh', '{prompt}'], undefined],
    [['agent', '-c', '{prompt}'], undefined],
  ])('in the argument vector %j is found in argument %j', (argv, index) => {
    const problems = commandProblems({ kind: 'argv', argv }, COMMAND_VARIABLES);
    expect(problems.map((found) => found.index)).toEqual(index === undefined ? [] : [index]);
  });
});
