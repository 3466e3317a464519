import {
  appendFileSync,
  chmodSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { strategies } from './__fixtures__/strategies.ts';
import { bytesOf, makeRepo, makeTempDir, readTree, runGit, type TreeSpec } from './__fixtures__/test-repo.ts';
import { createWorkspaces } from './create-workspaces.ts';
import { resolveCommit } from './repository.ts';
import type { Snapshot, Workspaces } from './workspace.ts';

const LINES = `${Array.from({ length: 20 }, (_, line) => `line ${line}`).join('\n')}\n`;
const TREE: TreeSpec = {
  a: LINES,
  'd/e/f': `f ${LINES}`,
  'd/e/g': { exec: `g ${LINES}` },
  'd/h': { link: 'e/f' },
  'n\n"m\\/\xff': 'odd\n',
  'text.crlf': 'a\r\nb\r\n',
  nothing: '',
};

/** Only a few names, so that files, folders and symlinks replace each other. */
const name = fc.constantFrom(
  'a',
  'd',
  'e',
  'f',
  'g',
  'h',
  'n\n"m\\',
  '\xff',
  'text.crlf',
  'nothing',
  '.gitattributes',
);
const path = fc.array(name, { minLength: 1, maxLength: 3 }).map((names) => names.join('/'));
const content = fc.oneof(
  fc.constantFrom('', 'x', 'x\n', 'a\r\n', LINES, `f ${LINES}`, '* text eol=crlf -diff\n', '\0binary\0'),
  fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
);
const step = fc.oneof(
  fc.record({ kind: fc.constant('write' as const), path, content }),
  fc.record({ kind: fc.constant('append' as const), path, content }),
  fc.record({ kind: fc.constant('remove' as const), path }),
  fc.record({ kind: fc.constant('move' as const), path, to: path }),
  fc.record({
    kind: fc.constant('link' as const),
    path,
    to: fc.oneof(path, fc.constant('/dev/null/nowhere')),
  }),
  fc.record({ kind: fc.constant('mode' as const), path, mode: fc.constantFrom(0o755, 0o644) }),
);
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

/** Does what an agent does. What is impossible (a file below a file) is skipped, as in a shell. */
function perform(root: string, action: Step): void {
  const target = bytesOf(join(root, action.path));
  try {
    if (action.kind === 'remove') rmSync(target, { recursive: true });
    else if (action.kind === 'append') appendFileSync(target, action.content, { flag: 'r+' });
    else if (action.kind === 'mode') chmodSync(target, action.mode);
    else {
      mkdirSync(bytesOf(dirname(join(root, action.path))), { recursive: true });
      if (action.kind === 'write') writeFileSync(target, action.content);
      else if (action.kind === 'link') symlinkSync(bytesOf(action.to), target);
      else renameSync(target, bytesOf(join(root, action.to)));
    }
  } catch (error) {
    if (!(error instanceof Error && 'code' in error)) throw error;
  }
}

describe.each(strategies)('a patch, over $strategy', { tags: 'mounts' }, ({ strategy, missing }) => {
  let repo: string;
  let scratch: string;
  let workspaces: Workspaces;
  let snapshot: Snapshot;

  beforeAll(async () => {
    if (missing) return;
    repo = makeRepo(TREE);
    writeFileSync(join(repo, '.git/info/attributes'), '* -text\n');
    scratch = makeTempDir();
    workspaces = await createWorkspaces({ repo, scratch, strategy });
    snapshot = await workspaces.prepare(await resolveCommit(repo, 'main'), []);
  });
  afterAll(async () => {
    await workspaces?.[Symbol.asyncDispose]();
    for (const folder of [repo, scratch]) if (folder) rmSync(folder, { recursive: true });
  });

  test.skipIf(missing)('gives the tree when git or another workspace applies it to the base', async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
        await using workspace = await workspaces.create(snapshot);
        await using other = await workspaces.create(snapshot);
        for (const action of steps) perform(workspace.path, action);
        const tree = readTree(workspace.path);

        const changes = await workspace.changes();
        await other.apply(changes);
        expect(readTree(other.path)).toEqual(tree);
        expect((await other.changes()).files).toEqual(changes.files);
        expect(await other.restore(() => true)).toHaveLength(
          new Set(changes.files.flatMap(({ bytes, fromBytes }) => [bytes, fromBytes ?? bytes])).size,
        );
        expect(readTree(other.path)).toEqual(readTree(repo));

        try {
          if (changes.patchBytes > 0) runGit(repo, ['apply', '--binary', '--index', changes.patchFile]);
          expect(readTree(repo)).toEqual(tree);
        } finally {
          runGit(repo, ['reset', '-q', '--hard']);
          runGit(repo, ['clean', '-q', '-ffdx']);
        }
        if (changes.patchBytes === 0) expect(readFileSync(changes.patchFile)).toHaveLength(0);
      }),
      { numRuns: 20 },
    );
  });
});
