import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';
import { collectCommand, gate, points, power, rate } from './option-values.ts';

test.each([
  ['delta > -5pp', -0.05],
  ['delta>=−2.5pp', -0.025],
  ['delta > 0', 0],
  ['delta > 10pp', 0.1],
])('%s is a bound', (text, bound) => {
  expect(gate(text).bound).toBeCloseTo(bound, 12);
});

test.each(['delta < 5pp', 'delta > -5', 'cost > 0', 'delta > -100pp', ''])('%j is not a bound', (text) => {
  expect(() => gate(text)).toThrow('It must be a bound such as "delta > -5pp"');
});

test('points are a share of 100', () => {
  expect(points('12.5 pp')).toBe(0.125);
  expect(() => points('0')).toThrow('It must be a number of points');
});

test.each(['0', '0.4', '1', '100%', 'much'])('%j is not a power', (text) => {
  expect(() => power(text)).toThrow('It must be a share from 0');
});

test('a power is a share or a percentage', () => {
  expect(power('90%')).toBe(0.9);
  expect(power('0.8')).toBe(0.8);
});

test.each(['%', ' %', '', '101%', '2'])('%j is not a rate', (text) => {
  expect(() => rate(text)).toThrow('It must be a share from 0 to 1');
});

test('a rate is a share or a percentage', () => {
  expect([rate('0'), rate('0.8'), rate('80%'), rate('80 %')]).toEqual([0, 0.8, 0.8, 0.8]);
});

test('help shows defaults as a user types them', async () => {
  using project = makeProject();
  const helpOf = async (...words: string[]) =>
    (await project.whetstone([...words, '--help'])).stdout.replace(/\s+/g, ' ');
  const plan = await helpOf('plan');
  expect(plan).toContain('in points of the pass rate (default: 10pp)');
  expect(plan).toContain('choose from (default: 1,2,3,5)');
  expect(await helpOf('calibrate')).toContain('(default: 10pp)');
  expect(await helpOf('gateway')).not.toContain('default: []');
  expect(await helpOf('tasks', 'mine')).not.toContain('default: []');
});

test('a command must not be empty', () => {
  expect(collectCommand('npm test', ['true'])).toEqual(['true', 'npm test']);
  for (const text of ['', ' ']) expect(() => collectCommand(text, [])).toThrow('It must not be empty.');
});
