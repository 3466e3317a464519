import { mkdir, symlink, writeFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { describeEnvironment } from './environment-context.ts';
import { findProjectDocuments } from './project-documents.ts';

const names = ['AGENTS.md', 'CLAUDE.md'];

async function nested() {
  const place = await temporaryEnvironment();
  await mkdir(place.path('repo/.git'), { recursive: true });
  await mkdir(place.path('repo/pkg/inner'), { recursive: true });
  const environment = new LocalExecutionEnvironment({ workingDirectory: place.path('repo/pkg/inner') });
  return { place, environment };
}

test('documents come from the git root down, root first, and from nowhere above it', async () => {
  const { place, environment } = await nested();
  await using _ = place;
  await writeFile(place.path('AGENTS.md'), 'outside');
  await writeFile(place.path('repo/AGENTS.md'), 'root\n');
  await writeFile(place.path('repo/CLAUDE.md'), 'root claude');
  await writeFile(place.path('repo/pkg/inner/AGENTS.md'), 'inner');
  const documents = await findProjectDocuments(environment, names);
  expect(documents.map((document) => document.text)).toEqual(['root', 'root claude', 'inner']);
  expect(documents[0]?.path).toBe(place.path('repo/AGENTS.md'));
});

test('a file with two names counts once, and a folder of that name is not a document', async () => {
  const { place, environment } = await nested();
  await using _ = place;
  await writeFile(place.path('repo/AGENTS.md'), 'one');
  await symlink('AGENTS.md', place.path('repo/CLAUDE.md'));
  await mkdir(place.path('repo/pkg/AGENTS.md'));
  expect(await findProjectDocuments(environment, names)).toHaveLength(1);
});

test('the budget goes to the deepest first, and a cut is marked and leaves whole characters', async () => {
  const { place, environment } = await nested();
  await using _ = place;
  await writeFile(place.path('repo/AGENTS.md'), 'root '.repeat(4000));
  await writeFile(place.path('repo/pkg/AGENTS.md'), '€'.repeat(10_000));
  await writeFile(place.path('repo/pkg/inner/AGENTS.md'), 'inner '.repeat(1000));
  const [root, middle, inner] = await findProjectDocuments(environment, ['AGENTS.md']);
  expect(inner?.text).toBe('inner '.repeat(1000).trim());
  expect(middle?.text).toMatch(/^€+\n\[Project instructions truncated at 32KB\]$/);
  expect(root?.text).toBe('[Project instructions truncated at 32KB]');
});

test('a document in UTF-16 is read as such, and a blank one says nothing', async () => {
  const { place, environment } = await nested();
  await using _ = place;
  const utf16 = Buffer.from(`\ufeff${'Use täbs. '.repeat(4000)}`, 'utf16le');
  await writeFile(place.path('repo/AGENTS.md'), utf16);
  await writeFile(place.path('repo/CLAUDE.md'), '\ufeff \n');
  await writeFile(place.path('repo/pkg/AGENTS.md'), Buffer.from('\ufeffUse täbs.\n', 'utf16le'));
  const [root, inner, ...others] = await findProjectDocuments(environment, names);
  expect(root?.text).toMatch(/^Use täbs\. Use täbs\. .*\n\[Project instructions truncated at 32KB\]$/);
  expect(root?.text).not.toMatch(/[\0\ufffd]/);
  expect(inner?.text).toBe('Use täbs.');
  expect(others).toEqual([]);
});

test('the environment block names the place, and git as it stands', async () => {
  await using place = await temporaryEnvironment();
  const { environment } = place;
  const signal = new AbortController().signal;
  const profile = { model: 'm-1', knowledgeCutoff: '2025-08' };
  const describe = () => describeEnvironment(environment, profile, Date.UTC(2026, 1, 3), signal);
  expect(await describe()).toBe(
    [
      '<environment>',
      `Working directory: ${place.directory}`,
      'Is git repository: false',
      `Platform: ${process.platform}`,
      `OS version: ${environment.osVersion()}`,
      "Today's date: 2026-02-03",
      'Model: m-1',
      'Knowledge cutoff: 2025-08',
      '</environment>',
    ].join('\n'),
  );
  const git = 'git -c user.name=a -c user.email=a@b';
  await environment.exec(
    `git init -q -b trunk && touch a && git add a && ${git} commit -qm "first commit" && touch b`,
  );
  await environment.exec('echo x > a');
  const text = await describe();
  expect(text).toContain('Is git repository: true\nGit branch: trunk\n');
  expect(text).toMatch(
    /Modified files: 1, untracked: 1 .*\nRecent commits:\n[0-9a-f]+ first commit\n<\/git_status>$/,
  );
});

test('nothing that a repository configures runs while git is read', async () => {
  await using place = await temporaryEnvironment();
  const { environment } = place;
  await environment.exec('git init -q && git config core.fsmonitor "touch ran; false"');
  const signal = new AbortController().signal;
  await describeEnvironment(environment, { model: 'm' }, 0, signal);
  expect(await environment.stat('ran')).toBeUndefined();
});
