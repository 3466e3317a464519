import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { type Mask, type SandboxProvider, startSandboxProvider } from '@whetstone/sandbox';
import { evalChecks } from '../attempt/eval-checks.ts';
import type { TaskConfig, VariantConfig } from '../config/config.ts';
import { usesEngine } from '../config/sandbox-facts.ts';
import { armsOf, loadExperiment } from '../eval/plan-experiment.ts';
import type { CheckResult, CleanRoomCheck } from '../eval/protocol.ts';
import { fingerprintVariant } from '../plan/fingerprint.ts';
import { type CaseLayout, caseLayout } from '../record/layout.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow, CommandRow } from '../record/row.ts';
import { createWorkspaces } from '../workspace/create-workspaces.ts';
import { GitError, git } from '../workspace/git.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';
import type { Changes, Workspace, Workspaces } from '../workspace/workspace.ts';
import { eventsOf } from './stored-events.ts';

/** What a stored case is judged with. */
export type StoredCase = { row: CaseRow; files: CaseLayout; task: TaskConfig };

/** The clean rooms of one stored case. Disposing removes its tree. */
export type CaseRooms = AsyncDisposable & {
  /** Runs tests or a script on the files as the agent left them. */
  check(what: CleanRoomCheck): Promise<CheckResult>;
  /** What ran, and a folder with the output, laid out like the folder of a case. `undefined`: nothing ran. */
  ran(): { commands: CommandRow[]; folder: string } | undefined;
};

/**
 * Clean rooms for stored cases: the tree of the run's commit with the overlays of the variant, and the stored changes on
 * it. Nothing is made before the first check needs it.
 */
export function openStoredRooms(
  manifest: Manifest,
  mask: Mask,
): AsyncDisposable & {
  of(one: StoredCase): CaseRooms;
} {
  const open = new AsyncDisposableStack();
  let place: Promise<RoomFolder> | undefined;
  return {
    of(one) {
      const own = new AsyncDisposableStack();
      let room: Promise<{ check: CaseRooms['check']; commands: CommandRow[][]; folder: string }> | undefined;
      let made: Awaited<typeof room>;
      const prepare = async () => {
        if (one.row.environment) throw new Error('the run had a prepared environment');
        place ??= openPlace(manifest, open);
        const { workspaces, sandboxes, scratch, variantOf } = await place;
        const { overlays } = await variantOf(one.row.variant);
        const workspace = own.use(
          await workspaces.create(await workspaces.prepare(one.row.repo_ref, overlays)),
        );
        const changes = await applyStored(workspace, one);
        const folder = await mkdtemp(join(scratch, 'r-'));
        // Counted on from the clean rooms of the stored case, whose folders stay.
        const checks: CommandRow[][] = storedChecks(one.files).map(() => []);
        const check = evalChecks(
          { task: one.task, signal: new AbortController().signal },
          { scratch, mask },
          { checks, turns: [{ events: eventsOf(one.files) }] },
          {
            ...{ workspace, files: caseLayout(folder), changes: async () => changes },
            workplace: { workspaces, sandboxes, services: [], hidden: new Map() },
          },
        );
        made = { check, commands: checks, folder };
        return made;
      };
      return {
        async check(what) {
          room ??= prepare();
          try {
            return await (await room).check(what);
          } catch (error) {
            return { status: 'broken', message: `${messageOf(error)}; run the eval again` };
          }
        },
        ran: () => {
          const commands = made?.commands.flat() ?? [];
          return made && commands.length > 0 ? { commands, folder: made.folder } : undefined;
        },
        [Symbol.asyncDispose]: () => own.disposeAsync(),
      };
    },
    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

const storedChecks = (files: CaseLayout): string[] =>
  readdirSync(dirname(files.verify)).filter((name) => name.startsWith('check-'));

type RoomFolder = {
  workspaces: Workspaces;
  sandboxes: SandboxProvider;
  scratch: string;
  /** Rejects where it is not known what the variant was. */
  variantOf(name: string): Promise<VariantConfig>;
};

async function openPlace(manifest: Manifest, open: AsyncDisposableStack): Promise<RoomFolder> {
  const { repo, withheld = [], isolation, config_path: file, variants } = manifest;
  if (isolation.provider === 'none') throw new Error('the agents of this run have no files');
  const isShared = usesEngine(isolation);
  const { directory: scratch } = open.use(await makeScratch({ isShared }));
  const { id: image, runtime } = isolation.container ?? {};
  const container = image === undefined ? undefined : { image, ...(runtime && { runtime }) };
  const { hosts, setup_hosts: setupHosts } = isolation;
  const options = { scratch, ...present({ container, hosts, setupHosts }) };
  const sandboxes = await startSandboxProvider(isolation.provider, options);
  const { owner } = sandboxes;
  const workspaces = open.use(
    await createWorkspaces({
      ...{ repo: repo.path, scratch, withheld, owner },
      ...(isShared && { strategy: 'shared' }),
    }),
  );
  let arms: Promise<VariantConfig[]> | undefined;
  return {
    ...{ workspaces, sandboxes, scratch },
    async variantOf(name) {
      arms ??= loadExperiment({ file, id: '' }).then(armsOf);
      const variant = (await arms).find((one) => one.name === name);
      const before = variants.find((one) => one.name === name)?.fingerprint;
      if (!variant || (await fingerprintVariant(variant)) !== before) {
        throw new Error(`the variant ${name} is not the one of the stored run`);
      }
      if (variant.instructions) throw new Error(`the variant ${name} has instructions`);
      return variant;
    },
  };
}

/** Applies the stored patch, and makes sure that it gives the files that the agent left. */
export async function applyStored(
  workspace: Workspace,
  { row, files }: Pick<StoredCase, 'row' | 'files'>,
): Promise<Changes> {
  const unknown = (why: string) => new Error(`the files as the agent left them are not known (${why})`);
  if (row.changed_files === null) throw unknown('they were not read');
  if (row.changed_files > 0 && !existsSync(files.patch)) throw unknown('no patch is stored');
  if (row.unportable_paths.length > 0) throw unknown('no patch can hold some of them');
  const patch = existsSync(files.patch) ? readFileSync(files.patch) : Buffer.alloc(0);
  if (patch.length > 0) {
    const { path } = workspace;
    const args = ['apply', '--binary', '--whitespace=nowarn', '-'];
    await git(args, { workTree: path, gitDir: join(path, '.git'), input: patch }).catch((error: unknown) => {
      if (error instanceof GitError) throw unknown('the stored patch does not apply');
      throw error;
    });
  }
  const changes = await workspace.changes();
  // Secrets may have been masked in the stored one.
  if (!readFileSync(changes.patchFile).equals(patch)) throw unknown('the stored patch gives others');
  return changes;
}
