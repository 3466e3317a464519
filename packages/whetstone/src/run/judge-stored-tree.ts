import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { codeOf, messageOf, WhetstoneError } from '@whetstone/errors';
import { type JsonObject, parseJson } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Mask } from '@whetstone/sandbox';
import { keepPatch } from '../attempt/keep-patch.ts';
import type { Workplace } from '../attempt/lab.ts';
import { openO11yFolder } from '../attempt/o11y-folder.ts';
import type { TaskConfig } from '../config/config.ts';
import { type CaseLayout, caseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { runSetup } from '../verify/run-setup.ts';
import { type Verification, verify } from '../verify/verify.ts';
import type { Changes, Snapshot, Workspace } from '../workspace/workspace.ts';
import { isLeftOut } from './harbor-tree.ts';
import { eventsOf } from './stored-events.ts';
import { applyStored } from './stored-rooms.ts';

/** A stored case of a task, and the tree that its agent started from. */
export type StoredWork = {
  row: CaseRow;
  files: CaseLayout;
  task: TaskConfig;
  snapshot: Snapshot;
  /** Another tool ran the case and kept the whole tree, without these paths. Absent: the patch of the case is stored. */
  treesLeaveOut?: readonly string[];
};

/** Where stored work is judged. `repeat`: how often each tree is verified. */
export type JudgePlace = {
  workplace: Workplace;
  scratch: string;
  mask: Mask;
  repeat: number;
  signal: AbortSignal;
};

/**
 * What the clean room says of a stored tree, once per repetition, and a folder with the logs, laid out like the folder of a
 * case: `verify`, and `verify-2` and so on. `unknown`: why the tree cannot be made again.
 */
export type JudgedWork =
  | { verifications: [Verification, ...Verification[]]; folder: string; found?: FoundChanges }
  | { unknown: string };

/** What a whole tree has more or less than the one that its agent started from. Its patch is in the folder. */
export type FoundChanges = Pick<
  CaseRow,
  'changed_files' | 'insertions' | 'deletions' | 'touched_paths' | 'unportable_paths'
>;

/** Makes the tree that the agent left, and verifies it. The agent does not run; the setup of the task does. */
export async function judgeStoredTree(work: StoredWork, place: JudgePlace): Promise<JudgedWork> {
  const { task, snapshot, files } = work;
  const { workplace, scratch, mask, signal } = place;
  const folder = await mkdtemp(join(scratch, 'r-'));
  const { workspaces, sandboxes, services, environments } = workplace;
  await using workspace = await workspaces.create(snapshot);
  if (task.setup.length > 0) {
    await using sandbox = await sandboxes.start({ workdir: workspace.path, ...workspace.place, env: {} });
    const { failure } = await runSetup(sandbox, task, { directory: `${folder}-setup`, mask, signal });
    await sandbox.stop();
    if (failure !== undefined) return { unknown: `setup: ${failure}` };
    await workspace.rebase();
  }
  const isWhole = work.treesLeaveOut !== undefined;
  const changes = await (isWhole ? takeTree : applyStored)(workspace, work).catch((error: unknown) => {
    if (error instanceof WhetstoneError) throw error;
    return messageOf(error);
  });
  if (typeof changes === 'string') return { unknown: changes };
  if (isWhole) await keepPatch(changes, caseLayout(folder).patch, { mask });
  const answer = await storedAnswer(files);
  await using o11y = task.o11yContext ? await openO11yFolder(eventsOf(files), { scratch, mask }) : undefined;
  const once = (directory: string) =>
    verify({
      ...{ task, snapshot, changes, agentCompleted: true, workspaces, sandboxes, services },
      ...{ directory, mask, signal },
      ...present({ answer, environments, beside: o11y?.path }),
    });
  const { verify: logs } = caseLayout(folder);
  const first = await once(logs);
  const others: Verification[] = [];
  for (let number = 2; number <= place.repeat; number += 1) {
    signal.throwIfAborted();
    others.push(await once(`${logs}-${number}`));
  }
  return {
    ...{ verifications: [first, ...others], folder },
    ...(isWhole && { found: foundIn(changes, mask) }),
  };
}

/** Makes a workspace what the stored tree is. */
async function takeTree(
  workspace: Workspace,
  { row, files, treesLeaveOut = [] }: StoredWork,
): Promise<Changes> {
  const [note] = row.artifact_notes ?? [];
  if (row.workspace_path === undefined)
    throw new Error(`there is no tree of it (${note ?? 'none was kept'})`);
  if (note !== undefined) throw new Error(`its tree is not as the agent left it (${note})`);
  await workspace.become(files.workspace, (path) => isLeftOut(path, treesLeaveOut));
  return workspace.changes();
}

const foundIn = ({ files, insertions, deletions, unportable }: Changes, mask: Mask): FoundChanges => ({
  ...{ changed_files: files.length, insertions, deletions },
  touched_paths: files.map(({ path }) => mask.text(path)),
  unportable_paths: unportable.map(mask.text),
});

async function storedAnswer({ outputData }: CaseLayout): Promise<JsonObject | undefined> {
  const text = await readFile(outputData, 'utf8').catch((error: unknown) => {
    if (codeOf(error) === 'ENOENT') return undefined;
    throw error;
  });
  return text === undefined ? undefined : (parseJson(text) as JsonObject | undefined);
}
