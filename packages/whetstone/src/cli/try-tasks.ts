import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { taskFoldersIn } from '../config/read-task-file.ts';
import { counted } from '../report/format.ts';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';
import { miningDefaults } from './tasks-commands.ts';
import { group, mine, scanLines } from './tasks-mine.ts';
import type { TryOptions } from './try-options.ts';

/** What `whetstone try` writes, below the root of the repository. */
export const OUR_FOLDER = '.whetstone/try';

/** Where `whetstone tasks mine` puts tasks. */
const MINED = 'tasks/mined';
const TASKS_WANTED = 20;

/** In seconds, of one run of the tests of a commit: each case runs them again. */
const TESTS_LIMIT = 60;

type FoundTasks = { folder?: string; lines: string[] };

/** The tasks of `tasks/mined`, else those that were mined here, and more of them up to the number that is wanted. */
export async function findTasks(
  workTree: string,
  { maxTasks, jobs, prepare, dryRun, json, resume }: TryOptions,
  stderr: Streams['stderr'],
): Promise<FoundTasks | undefined> {
  const reviewed = join(workTree, MINED);
  if (countTasks(reviewed) > 0)
    return { folder: reviewed, lines: [`${counted(countTasks(reviewed), 'task')} of ${MINED}`] };
  const folder = join(workTree, OUR_FOLDER, 'tasks');
  const wanted = maxTasks ?? TASKS_WANTED;
  const had = countTasks(folder);
  const lines = [
    `${counted(had, 'task')} mined from commits. Read them with: whetstone tasks review ${OUR_FOLDER}/tasks`,
  ];
  if (had >= wanted || (had > 0 && (dryRun || resume !== undefined))) return { folder, lines };
  const mining = {
    ...{ ...miningDefaults, repo: workTree, out: folder, jobs, prepare, limit: wanted - had },
    timeout: TESTS_LIMIT,
    ...{ method: 'replay' as const, paths: [], issues: [], sessions: [], setup: [] },
  };
  if (dryRun) {
    const { scanHistory } = await import('../tasks/scan-history.ts');
    const { maxFiles, maxLines } = miningDefaults;
    const history = await scanHistory(workTree, { maxFiles, maxLines, paths: [] });
    const text = `none yet: of ${counted(history.candidates.length + history.leftOut.length, 'commit')}, ${history.candidates.length} are candidates, which \`whetstone try\` tries first`;
    return { lines: [text] };
  }
  if (!json) stderr.write(`Mining tasks from the commits, which needs no model. Ctrl-C stops it.\n`);
  using interrupt = onInterrupt(stderr);
  const say = (line: string) => void (json || stderr.write(`${line}\n`));
  const { mined } = await mine(mining, { signal: interrupt.signal, say });
  if (interrupt.signal.aborted) return undefined;
  const has = countTasks(folder);
  if (!json) stderr.write('\n');
  if (has === 0) {
    const refused = [...mined.known, ...mined.tried].map(({ reason = '' }) => reason);
    throw new WhetstoneError('try-tasks-missing', 'No commit of this repository became a task.', {
      where: workTree,
      hint: [...scanLines(mined, { paths: [] }), ...group('Refused:', refused)].join('\n'),
    });
  }
  return { folder, lines: [lines[0]?.replace(/^[^ ]+ tasks?/, counted(has, 'task')) ?? ''] };
}

function countTasks(folder: string): number {
  if (!existsSync(folder)) return 0;
  try {
    return taskFoldersIn(folder).length;
  } catch (error) {
    if (error instanceof WhetstoneError && error.code === 'task-folder-empty') return 0;
    throw error;
  }
}
