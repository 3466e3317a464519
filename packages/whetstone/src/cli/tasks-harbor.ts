import { existsSync } from 'node:fs';
import { basename, join, relative, resolve } from 'node:path';
import { startSandboxProvider } from '@whetstone/sandbox';
import { makeEach } from '@whetstone/sandbox/files';
import { slug } from '../config/harbor-task.ts';
import { foldersWith } from '../config/read-task-file.ts';
import { makeOutputFolder } from '../record/unwritable.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { withSandbox } from '../run/choose-sandbox.ts';
import { exportTask } from '../tasks/harbor/export-task.ts';
import { importTask } from '../tasks/harbor/import-task.ts';
import { openTaskRoom } from '../tasks/task-room.ts';
import { git } from '../workspace/git.ts';
import { makeScratch, sweepScratch } from '../workspace/scratch-folder.ts';
import { environmentLine } from './environment-line.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';
import { type TasksOfOptions, tasksOf } from './tasks-of.ts';

/** What became of a task: the folder that was made, or why none was. */
type Converted = { task: string } & ({ folder: string; notes: string[] } | { refused: string });

type Work = { signal: AbortSignal; add: (one: Converted) => void };

/** Writes tasks as Harbor tasks, each after it was verified by exit codes. Returns 1 if one cannot be written. */
export async function tasksExportCommand(
  folders: string[],
  options: TasksOfOptions & { out: string; image: string; json?: boolean },
  streams: Streams,
): Promise<number> {
  const out = resolve(options.out);
  await makeOutputFolder(out, '--out');
  return convert('exported', options, streams, async ({ signal, add }) => {
    const say = (line: string) => {
      if (!options.json) streams.stderr.write(`${line}\n`);
    };
    const { tasks, ...place } = await tasksOf(folders, options, say);
    const { environment } = place;
    const hasServices = (environment?.services ?? []).length > 0;
    const { agents = [], variants = [] } = place;
    const { config } = await withSandbox(place, { agents, variants, tasks });
    await using room = await openTaskRoom({
      ...{ ...config, signal },
      onEnvironment: (event) => say(environmentLine(event)),
    });
    for (const task of tasks) {
      if (signal.aborted) return;
      const folder = join(out, slug(task.id));
      const refused = existsSync(folder)
        ? 'its folder exists'
        : hasServices
          ? 'it needs the services of the configuration, and the container has only the tree'
          : await exportTask(task, {
              ...{ room, folder, image: options.image, signal },
              prepare: environment?.prepare ?? [],
            });
      if (signal.aborted) return;
      add({ task: task.id, ...(refused === undefined ? { folder, notes: [] } : { refused }) });
    }
  });
}

/** Makes tasks of Harbor tasks. Returns 1 if one cannot be made. */
export async function tasksImportCommand(
  source: string,
  options: { out: string; json?: boolean },
  streams: Streams,
): Promise<number> {
  const sources = harborTasksIn(resolve(source));
  const out = resolve(options.out);
  await makeOutputFolder(out, '--out');
  const gitDir = join(out, REPOSITORY, '.git');
  const exit = await convert('imported', options, streams, async ({ signal, add }) => {
    await sweepScratch();
    await using scratch = await makeScratch();
    const sandboxes = await startSandboxProvider('process', { scratch: scratch.directory });
    makeEach(join(out, REPOSITORY));
    if (!existsSync(gitDir)) await git(['init', '-q', '-b', 'main', join(out, REPOSITORY)], {});
    for (const from of sources) {
      if (signal.aborted) return;
      const folder = join(out, slug(basename(from)));
      const task = basename(folder);
      const made = existsSync(folder)
        ? 'its folder exists'
        : await importTask(from, { folder, gitDir, sandboxes, scratch: scratch.directory, signal });
      if (signal.aborted) return;
      add({ task, ...(typeof made === 'string' ? { refused: made } : { folder, notes: made.notes }) });
    }
  });
  if (!options.json) {
    const shown = relative(process.cwd(), out);
    streams.stdout.write(
      `Their trees are in ${shown}/${REPOSITORY}. Check them with: whetstone tasks check ${shown} --repo ${shown}/${REPOSITORY}\n`,
    );
  }
  return exit;
}

/** In the folder of imported tasks. */
const REPOSITORY = 'repo';

const harborTasksIn = (folder: string): string[] =>
  foldersWith('task.toml', folder, {
    message: 'The folder has no Harbor task.',
    hint: 'A Harbor task is a folder with a task.toml.',
  });

async function convert(
  what: string,
  { json }: { json?: boolean },
  { stdout, stderr }: Streams,
  work: (work: Work) => Promise<void>,
): Promise<number> {
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  const all: Converted[] = [];
  await work({
    signal,
    add(one) {
      all.push(one);
      const lines = 'refused' in one ? [`refused: ${one.refused}`] : [what, ...one.notes];
      if (!json) stderr.write(`${oneLine(one.task)}: ${lines.map((line) => oneLine(line)).join('; ')}\n`);
    },
  });
  const made = all.filter((one) => 'folder' in one);
  if (json) stdout.write(escapedJson({ tasks: all }));
  else stdout.write(`${made.length} of ${counted(all.length, 'task')} ${what}\n`);
  if (signal.aborted) return 130;
  return made.length === all.length ? 0 : 1;
}
