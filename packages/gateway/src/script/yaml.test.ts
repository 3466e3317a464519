import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { GatewayError } from '../gateway-error.ts';
import { loadScript } from './load.ts';
import type { ScriptRequest } from './script.ts';
import { parseYamlScript } from './yaml.ts';

const fixture = (name: string): string => join(import.meta.dirname, '__fixtures__', name);

const request = (given: Partial<ScriptRequest>): ScriptRequest => ({
  step: 0,
  userText: '',
  instructions: '',
  text: '',
  toolResults: [],
  tools: [],
  family: 'unknown',
  model: 'm',
  wire: 'openai-responses',
  owner: 'a',
  chance: () => true,
  ...given,
});

const failure = (source: string): string => {
  try {
    parseYamlScript(source, 'demo.yaml');
  } catch (error) {
    if (error instanceof GatewayError) return error.message;
  }
  throw new Error('expected a GatewayError');
};

describe('a script plays', () => {
  const rule = { instructions: 'Follow the rule.', text: 'Follow the rule.' };
  test.each<[string, Partial<ScriptRequest>, string]>([
    ['the first rule that matches', { family: 'codex', userText: 'fix the bug', ...rule }, 'src/a.ts'],
    ['the next step of a rule', { family: 'codex', userText: 'fix the bug', step: 1 }, 'Fixed.'],
    [
      'a short text after the last step of a rule',
      { family: 'codex', userText: 'fix the bug', step: 2 },
      'Done.',
    ],
    ['no rule that lacks a text of its list', { family: 'codex', userText: 'the bug' }, 'Nothing to do.'],
    ['no rule for another family', { family: 'pi', userText: 'fix the bug' }, 'Nothing to do.'],
    ['a later rule that matches', rule, 'Rule followed.'],
    ['no rule whose excluded text occurs', { ...rule, text: 'Never mind' }, 'Nothing to do.'],
    ['no rule whose draw fails', { ...rule, chance: () => false }, 'Nothing to do.'],
  ])('%s', async (_what, given, expected) => {
    const script = await loadScript(fixture('fix.yaml'));
    expect(script.name).toBe('fix');
    expect(JSON.stringify(await script.play(request(given)))).toContain(expected);
  });

  test('a draw with the label of its rule, or its position as the label', async () => {
    const labels: string[] = [];
    const chance = (label: string, probability: number) => {
      labels.push(`${label} ${probability}`);
      return false;
    };
    const source = `
      name: s
      rules:
        - { when: { chance: { probability: 0.25 } }, steps: [{ text: a }] }
        - { when: { chance: { label: own, probability: 0.5 } }, steps: [{ text: b }] }`;
    const step = await parseYamlScript(source, 'x.yaml').play(request({ chance }));
    expect(labels).toEqual(['rule 0 0.25', 'own 0.5']);
    expect(step).toEqual({ text: 'No rule of the script matches.' });
  });
});

describe('errors name file, line, column and path', () => {
  test.each([
    ['name: s\ndefault:\n  - txt: hi\n', /^demo\.yaml:3:5 {2}default\.0: .*txt/],
    [
      'name: s\ndefault:\n  - calls:\n      - { tool: edit, path: a, find: "" }\n',
      /^demo\.yaml:4:\d+ {2}default\.0\.calls\.0\./,
    ],
    [
      'name: s\nrules:\n  - when: { family: vim }\n    steps: [{ text: a }]\n',
      /^demo\.yaml:3:\d+ {2}rules\.0\.when\.family/,
    ],
    ['name: s\nrules: [{ when: { chance: { probability: 2 } }, steps: [{}] }]', /probability/],
    ['name: s', /^demo\.yaml:1:1 {2}script: a script needs `rules` or `default`/],
    ['', /^demo\.yaml:1:1 {2}script: /],
    ['name: [s', /^demo\.yaml:1:9 {2}/],
  ])('%j', (source, message) => {
    expect(failure(source)).toMatch(message);
  });

  test('all errors are reported at once', () => {
    const problems = failure('name: 5\ndefault:\n  - text: 7\n').split('\n');
    expect(problems).toEqual([
      expect.stringMatching(/:1:7 {2}name/),
      expect.stringMatching(/:3:11 {2}default\.0\.text/),
    ]);
  });
});

describe('a script file', () => {
  test('can be a module whose default export is a script', async () => {
    const script = await loadScript(fixture('hello-script.ts'));
    expect(await script.play(request({ step: 3 }))).toEqual({ text: 'Hello 3' });
  });

  test.each([
    ['no-script.ts', 'default export'],
    ['absent.ts', 'cannot be loaded'],
    ['absent.yaml', 'cannot be read'],
    ['script.json', '.yaml'],
  ])('like %s is refused', async (name, message) => {
    await expect(loadScript(fixture(name))).rejects.toMatchObject({
      code: 'script-invalid',
      message: expect.stringContaining(message),
    });
  });
});
