import { readFileSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { enterPrivateMountNamespace, isPrivateMountNamespace } from '../mount-namespace.ts';

/**
 * `enter` starts as the command line does, in its own namespace; `stay` starts without one. Then makes a workspace of the
 * repository, changes it, and prints what it saw as one line of JSON. With `hold` it waits to be killed.
 */
const [mode, repo = '', scratch = '', hold] = process.argv.slice(2);
if (mode === 'enter') enterPrivateMountNamespace();
// Only now, because the process has started anew.
const { createWorkspaces } = await import('../create-workspaces.ts');
const { resolveCommit } = await import('../repository.ts');

await using workspaces = await createWorkspaces({ repo, scratch });
const snapshot = await workspaces.prepare(await resolveCommit(repo, 'HEAD'), [{ kind: 'remove', paths: ['gone'] }]);
await using workspace = await workspaces.create(snapshot);
writeFileSync(join(workspace.path, 'added'), 'x\n');
const changes = await workspace.changes();
await using other = await workspaces.create(snapshot);
await other.apply(changes);
console.log(
  JSON.stringify({
    pid: process.pid,
    uid: process.getuid?.(),
    isPrivate: isPrivateMountNamespace(),
    namespace: readlinkSync('/proc/self/ns/mnt'),
    environment: Object.keys(process.env).filter((name) => /^(WHETSTONE|MALLOC)/.test(name)),
    argv: process.argv.slice(2),
    strategy: workspaces.strategy,
    mounts: readFileSync('/proc/mounts', 'utf8').split('\n').filter((line) => line.startsWith('overlay') && line.includes(scratch)).length,
    files: changes.files.map(({ path, change }) => `${change} ${path}`),
    applied: readFileSync(join(other.path, 'added'), 'utf8'),
  }),
);
if (hold) await setTimeout(60_000);
