import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Command } from 'commander';
import { expect, test } from 'vitest';
import { createProgram } from './main.ts';

const page = readFileSync(join(import.meta.dirname, '../../../../docs/cli.md'), 'utf8');
const visible = (command: Command) =>
  command
    .createHelp()
    .visibleCommands(command)
    .filter((sub) => sub.name() !== 'help');
const program = createProgram(() => undefined);

test('the page of the command line names each command', () => {
  const missing: string[] = [];
  const visit = (command: Command, words: readonly string[]): void => {
    const below = visible(command);
    const name = words.join(' ');
    // Commands that only lead to others do nothing themselves, and `runs list` is what `runs` does.
    if (below.length === 0 && name !== 'runs list' && !new RegExp(`\`${name}[ \`]`).test(page))
      missing.push(name);
    for (const sub of below) visit(sub, [...words, sub.name()]);
  };
  visit(program, []);
  expect(missing).toEqual([]);
});

test.each(['init', 'run', 'exp', 'audit', 'gateway'])('its section on %s has each option', (name) => {
  const [, section = ''] = page.split(`\n## ${name}\n`);
  const [text = ''] = section.split('\n## ');
  const command = visible(program).find((one) => one.name() === name) as Command;
  const options = command.createHelp().visibleOptions(command);
  const names = options.flatMap(({ long }) => (long && long !== '--help' ? [long] : []));
  expect(names.filter((option) => !text.includes(option))).toEqual([]);
});
