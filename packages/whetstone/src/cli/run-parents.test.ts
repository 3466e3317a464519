import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { run } from '../index.ts';
import { privateRootScript } from '../workspace/private-root.ts';
import { BIN, makeProject, type Project } from './__fixtures__/project.ts';

const hasNamespaces = spawnSync('unshare', ['--mount', 'true']).status === 0;

/** Notes every file that it finds by name in the folders above, and tries to leave one in each for the next case. */
const WALKER = `folder=$PWD
while [ "$folder" != / ]; do
  folder=$(dirname "$folder")
  for name in AGENTS.md CLAUDE.md .env .mcp.json; do
    if [ -e "$folder/$name" ]; then echo "$folder/$name: $(cat "$folder/$name")" >> $NOTES/found; fi
  done
done
ls ../.. >> $NOTES/neighbours
for above in ../.. LEAVE; do echo planted > $above/CLAUDE.md || echo refused >> $NOTES/writes; done`;

let project: Project;
beforeEach(() => {
  project = makeProject({ agents: { walker: WALKER.replace(' LEAVE', '') } });
});
afterEach(() => {
  project[Symbol.dispose]();
  // Vitest does it before the next test, which for the next file is too late.
  vi.unstubAllEnvs();
});

/** Makes the agent leave its file in these folders too, and run a last command. */
const walk = (places: string, last = ''): void =>
  project.write({
    'agents/walker.sh': `NOTES=${project.notes}\n${WALKER.replace('LEAVE', places)}\n${last}\n`,
  });

const notes = (name: string): string[] => {
  const file = join(project.notes, name);
  return existsSync(file) ? readFileSync(file, 'utf8').split('\n').filter(Boolean) : [];
};

function plantEverywhere(): void {
  project.write({ 'tmp/AGENTS.md': 'of the host', 'tmp/.env': 'of the host', 'CLAUDE.md': 'of the host' });
}

describe.skipIf(!hasNamespaces)('layered mounts', { tags: 'namespaces' }, () => {
  test('no folder above a workspace shows anything of the machine or of another case', async () => {
    plantEverywhere();
    walk('../../.. /');
    const finished = await project.whetstone(['run', '--trials', '2', '--jobs', '2']);
    expect(finished.stderr).not.toContain('above');
    expect(project.latest().rows.map(({ outcome }) => outcome)).toEqual(Array(4).fill('passed'));
    expect(project.latest().manifest.isolation).toMatchObject({
      workspace: 'mount',
      parents: 'private',
      neighbours: 'hidden',
    });
    expect(notes('found')).toEqual([]);
    expect(notes('neighbours')).toHaveLength(4);
    expect(notes('writes')).toHaveLength(3 * 4);
    expect(existsSync('/CLAUDE.md')).toBe(false);
    expect(readdirSync(project.temporary).filter((name) => /^whetstone-\d/.test(name))).toEqual([]);
  });

  test('a run does not see files in the root of the machine', () => {
    walk('/', 'cat /AGENTS.md /.claude/* >> $NOTES/found || true');
    // The machine of this test is a root of its own, so that no other test sees the file.
    const plant = `unset WHETSTONE_PRIVATE_FOLDER; mount -o remount,rw / && mkdir /.claude && echo x > /.claude/CLAUDE.md &&
      echo of-the-machine > /AGENTS.md && mount -o remount,ro / && "$@"; cat /AGENTS.md /.claude/CLAUDE.md`;
    const args = [
      '--mount',
      '--propagation',
      'private',
      'sh',
      '-c',
      privateRootScript(),
      'sh',
      'sh',
      '-c',
      plant,
      'sh',
    ];
    const { stdout, stderr } = spawnSync('unshare', [...args, process.execPath, BIN, 'run'], {
      cwd: project.root,
      env: project.environment,
      encoding: 'utf8',
    });
    expect(stdout, stderr).toMatch(/of-the-machine\nx\n$/);
    expect(project.latest().rows.map(({ outcome }) => outcome)).toEqual(['passed', 'passed']);
    expect(project.latest().manifest.isolation.parents).toBe('private');
    expect(notes('found')).toEqual([]);
  });
});

/** As a library: the process of the tests has no mount namespace of its own, so its workspaces are copies. */
async function runInThisProcess(): Promise<{
  error?: { code: string; message: string };
  evidence: string[];
}> {
  vi.stubEnv('TMPDIR', project.temporary);
  return run({ config: join(project.root, 'whetstone.yaml') }).then(
    ({ ordered }) => ({ evidence: ordered.flatMap(({ evidence }) => evidence ?? []) }),
    ({ code, message }) => ({ error: { code, message }, evidence: [] }),
  );
}

describe('copies', () => {
  test('a file in any folder above is refused before anything runs, by its name', async () => {
    plantEverywhere();
    for (const name of ['tmp/AGENTS.md', 'tmp/.env', 'CLAUDE.md']) {
      const place = join(project.root, name);
      expect((await runInThisProcess()).error).toMatchObject({
        code: 'instructions-above-workspace',
        message: expect.stringContaining(place),
      });
      rmSync(place);
    }
    expect(notes('neighbours')).toEqual([]);
    expect(await runInThisProcess()).toEqual({ evidence: [] });
    expect(project.latest().manifest.isolation).toMatchObject({ parents: 'checked' });
    expect(notes('found')).toEqual([]);
  });

  test('what one case writes above its workspace does not become another case’s instructions', async () => {
    walk(project.temporary);
    const place = join(project.temporary, 'CLAUDE.md');
    const { evidence } = await runInThisProcess();
    expect(notes('found')).toEqual([]);
    expect(evidence).toEqual([expect.stringContaining(place), expect.stringContaining(place)]);
  });
});
