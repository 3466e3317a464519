import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, test } from 'vitest';
import { BIN, eventually, makeProject, type Project } from './__fixtures__/project.ts';
import { isInteractive, terminalWidth } from './terminal-features.ts';

const MIXED = {
  agents: {
    writer: 'sleep 0.4; case "$1" in *LEAVE-IT*) echo "\u001b[31mnot done" ;; *) touch DONE ;; esac',
  },
  tasks: [
    { id: 'works', prompt: 'x', validation: { commands: ['test -f DONE'] } },
    {
      id: 'fails',
      prompt: 'LEAVE-IT',
      validation: { commands: ['printf "\\033]0;title\\007red\\n"; test -f DONE'] },
    },
  ],
};
const ESC = String.fromCharCode(27);

describe.concurrent('progress', () => {
  test('without a terminal: one line per case, on stderr, without control characters', async () => {
    using project = makeProject(MIXED);
    const { exitCode, stderr } = await project.whetstone(['run', '--seed', 'a']);
    expect(exitCode).toBe(1);
    const { directory } = project.latest();
    const lines = stderr.split('\n');
    expect(lines[0]).toBe(`2 cases → ${directory}`);
    expect(
      lines
        .slice(1, 3)
        .map((line) => line.replace(/[\d.]+ s/, 'n s'))
        .sort(),
    ).toEqual(
      [
        expect.stringMatching(
          /^\[[12]\/2\] failed {2}writer · fails · baseline · 1 {2}n s {2}agent: `printf/,
        ),
        expect.stringMatching(/^\[[12]\/2\] passed {2}writer · works · baseline · 1 {2}n s$/),
      ].sort(),
    );
    expect(lines.slice(3)).toEqual(['']);
    expect(stderr).not.toContain(ESC);
  });
});

const hasScript = spawnSync('script', ['--version']).status === 0;

test('a terminal without a known size is not redrawn, and has a default width', () => {
  const unknown = { isTTY: true, columns: 0, rows: 0 } as NodeJS.WriteStream;
  const known = { isTTY: true, columns: 60, rows: 20 } as NodeJS.WriteStream;
  expect([isInteractive(unknown, {}), terminalWidth(unknown)]).toEqual([false, 100]);
  expect([isInteractive(known, {}), terminalWidth(known)]).toEqual([true, 60]);
});

describe.skipIf(!hasScript).concurrent('progress on a terminal', { tags: 'script' }, () => {
  test('live lines, and in the end only the result is left', async () => {
    using project = makeProject(MIXED);
    const { exitCode, output } = await onTerminal(project, ['run', '--seed', 'a']);
    expect(exitCode).toBe(1);
    expect(output).toContain(`${ESC}[?25l`); // the cursor is hidden …
    expect(output.lastIndexOf(`${ESC}[?25h`)).toBeGreaterThan(output.lastIndexOf(`${ESC}[?25l`)); // … and back
    const text = stripVTControlCharacters(output);
    expect(text).toContain('Preparing the trees…');
    expect(text).toMatch(/[01]\/2 done · 1 running · [01] not passed · [\d.]+ s/);
    expect(text).toMatch(/writer · (works|fails) · baseline · 1 {2}[\d.]+ s {2}agent/);
    expect(text).toMatch(/passed {2}writer · works · baseline · 1/);
    expect(text).toMatch(/failed {2}writer · fails · baseline · 1/);
    expect(text.trimEnd().endsWith(project.latest().directory)).toBe(true);
    expect(output).not.toContain(`${ESC}]0;title`);
  });

  test.each([
    ['NO_COLOR', { NO_COLOR: '1' }],
    ['TERM=dumb', { TERM: 'dumb' }],
    ['CI', { CI: 'true' }],
  ])('%s', async (name, env) => {
    using project = makeProject(MIXED);
    const { output } = await onTerminal(project, ['run', '--task-id', 'fails'], { env });
    const colors = output.includes(`${ESC}[31m`);
    const isLive = output.includes(`${ESC}[?25l`);
    expect({ colors, isLive }).toEqual({ colors: name === 'CI', isLive: name === 'NO_COLOR' });
  });

  test('interrupted by Ctrl-C at the keyboard: the cursor is back, and the way to resume is printed', async () => {
    using project = makeProject({ agents: { hangs: 'touch "$NOTES/hanging"; sleep 600' } });
    const { exitCode, output } = await onTerminal(project, ['run'], {
      interruptAt: join(project.notes, 'hanging'),
    });
    expect(exitCode).toBe(130);
    expect(output.lastIndexOf(`${ESC}[?25h`)).toBeGreaterThan(output.lastIndexOf(`${ESC}[?25l`));
    expect(stripVTControlCharacters(output)).toContain('Resume with: whetstone run --resume ');
  });
});

/** Runs the command line on a terminal of its own; Ctrl-C is typed when `interruptAt` is there. */
async function onTerminal(
  project: Project,
  args: string[],
  { env = {}, interruptAt }: { env?: NodeJS.ProcessEnv; interruptAt?: string } = {},
) {
  const command = [process.execPath, BIN, ...args].map((part) => `'${part}'`).join(' ');
  const child = spawn('script', ['-qefc', `stty cols 120 rows 40; exec ${command}`, '/dev/null'], {
    cwd: project.root,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, TERM: 'xterm', TMPDIR: project.temporary, ...env },
    stdio: ['pipe', 'pipe', 'inherit'],
  });
  let output = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  const closed = once(child, 'close');
  if (interruptAt !== undefined) {
    await eventually(interruptAt, () => existsSync(interruptAt));
    child.stdin.write('\u0003');
  }
  const [exitCode] = await closed;
  return { exitCode, output };
}
