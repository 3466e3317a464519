import { rmSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeProject, type Project } from '../cli/__fixtures__/project.ts';
import { makeHistory } from './__fixtures__/history.ts';
import { smallProject } from './__fixtures__/small-project.ts';
import type { Mined } from './mine.ts';

const server = createServer((_, response) => response.end('yes'));
let project: Project;
let repo: string;
let mined: Mined;
let expected: string[];
const modules = join(import.meta.dirname, '../../../../node_modules');
const SETUP = [
  `mkdir -p node_modules/.bin && ln -s ${modules}/vitest node_modules/vitest`,
  'printf \'#!/bin/sh\\nexec node "%s/node_modules/vitest/vitest.mjs" "$@"\\n\' "$PWD" > node_modules/.bin/vitest',
  'chmod +x node_modules/.bin/vitest',
];

const mine = async (...more: string[]): Promise<Mined> => {
  const args = ['tasks', 'mine', '--repo', repo, '--json', '--timeout', '8', '--jobs', '2', ...more];
  const { stdout, stderr, exitCode } = await project.whetstone([
    ...args,
    ...SETUP.flatMap((one) => ['--setup', one]),
  ]);
  expect(exitCode, stderr).toBe(0);
  return JSON.parse(stdout);
};

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  project = makeProject();
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
  const made = smallProject({ url, counter: join(project.root, 'counter') });
  expect(made.steps).toHaveLength(40);
  repo = makeHistory(made.steps);
  expected = made.expected;
  mined = await mine();
}, 240_000);
afterAll(() => {
  server.close();
  project[Symbol.dispose]();
  rmSync(repo, { recursive: true, force: true });
});

test('exactly the commits whose tests show their work are tasks', () => {
  const tasks = mined.tried.filter(({ status }) => status === 'task');
  const others = mined.tried.filter(({ status }) => status !== 'task');
  expect(others.map(({ subject, reason }) => `${subject}: ${reason}`)).toMatchInlineSnapshot(`
  [
    "Test both packages: no runner of its tests was found that Whetstone can read",
    "Break half and its test: its tests fail with its sources",
    "Add a helper that tests cannot load before: its tests cannot be loaded without its sources",
    "Fix slow: its tests do not run with its sources",
    "Simplify upper: its tests pass without its sources",
    "Fix flaky: no reliable test fails without its sources",
  ]
`);
  expect(tasks.map(({ subject }) => subject)).toEqual(expected);
});

test('every other commit has its reason', () => {
  expect(
    Object.fromEntries(mined.leftOut.map(({ subject, reason }) => [subject, reason])),
  ).toMatchInlineSnapshot(`
      {
        "Add a logo": "it changes neither sources nor tests",
        "Add a package with Vitest": "it changes sources but no test",
        "Add a workflow": "it changes neither sources nor tests",
        "Add flaky": "it changes sources but no test",
        "Add low": "it changes sources but no test",
        "Add slow": "it changes sources but no test",
        "Add trim": "it changes sources but no test",
        "Add upper": "it changes sources but no test",
        "Add wide": "it changes sources but no test",
        "Build": "it changes neither sources nor tests",
        "Change everything": "it changes 17 files, more than 15",
        "Drop the submodule": "it changes a submodule",
        "Release 1.0.0": "it changes neither sources nor tests",
        "Release 1.0.1": "it changes neither sources nor tests",
        "Release 1.0.2": "it changes neither sources nor tests",
        "Release 1.0.3": "it changes neither sources nor tests",
        "Release 1.0.4": "it changes neither sources nor tests",
        "Release 1.0.5": "it changes neither sources nor tests",
        "Release 1.0.6": "it changes neither sources nor tests",
        "Release 1.0.7": "it changes neither sources nor tests",
        "Rename trim to strip": "it only renames sources",
        "Revert "Count right"": "it reverts another commit",
        "Start": "it has no parent",
        "Test half with more numbers": "it changes only tests",
        "Update a dependency": "it changes dependencies (a lock file)",
        "Use a submodule": "it changes a submodule",
        "Write more in the README": "it changes neither sources nor tests",
        "fixup! Count right": "it is meant to be squashed",
      }
    `);
});

test('tests that cannot be relied on are excluded by name', () => {
  const excluded = mined.tried.flatMap(({ excluded = [] }) => excluded);
  expect(excluded).toMatchInlineSnapshot(`
    [
      {
        "reason": "flaky",
        "test": "test/trim.test.js > trim 2",
      },
      {
        "reason": "needs the network",
        "test": "test/trim.test.js > trim 3",
      },
      {
        "reason": "depends on the date",
        "test": "test/trim.test.js > trim 4",
      },
    ]
  `);
});
