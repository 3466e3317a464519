import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { present } from '@whetstone/events/present';
import { git } from '../workspace/git.ts';
import { isMissingObject, missingObjects } from '../workspace/missing-objects.ts';
import { openRepository, type Repository, resolveCommit } from '../workspace/repository.ts';
import { classifyPath, type PathKind } from './classify-path.ts';

/** Which commits are worth a try. Sizes count only sources and tests. */
export type ScanLimits = {
  /** At most so many files of sources and tests. */
  maxFiles: number;
  /** At most so many lines, added and deleted. */
  maxLines: number;
};

export type ChangedFile = {
  path: string;
  /** The old path of a rename. */
  from?: string;
  change: 'added' | 'modified' | 'deleted' | 'renamed';
  kind: PathKind;
  /** Added and deleted lines; `null` for a binary file. */
  lines: number | null;
};

export type HistoryCommit = {
  commit: string;
  parent: string;
  /** ISO 8601. */
  date: string;
  /** Of its parent. */
  previousDate?: string;
  /** The whole message. */
  message: string;
  files: ChangedFile[];
};

/** `commit` and `date` where it is a commit. */
export type LeftOut = { subject: string; reason: string; commit?: string; date?: string };

export type History = {
  /** Newest first. */
  candidates: HistoryCommit[];
  leftOut: LeftOut[];
  /** Whether the clone is shallow, so that older commits are not there. */
  isShallow: boolean;
};

export type ScanOptions = ScanLimits & {
  /** A date as git takes it: only commits after it. */
  since?: string;
  /** Only commits that change something at these paths. */
  paths?: readonly string[];
};

/**
 * Reads the first-parent history of a repository: a merge counts as one change, and so does a squash. Reads only what is
 * on this machine.
 * @throws WhetstoneError `repo-objects-missing` where files of the history are not, and those of `resolveCommit`
 */
export async function scanHistory(repo: string, options: ScanOptions): Promise<History> {
  const repository = await openRepository(repo);
  const { since, paths = [] } = options;
  const tip = await resolveCommit(repo, 'HEAD');
  const output = await git(
    [
      ...[
        '-c',
        'core.quotePath=false',
        'log',
        '--first-parent',
        '--full-diff',
        '--diff-merges=first-parent',
        '-M',
        '--raw',
        '--numstat',
      ],
      ...['--no-abbrev', '--no-show-signature', '--format=%x00%H%x00%P%x00%aI%x00%B%x00'],
      ...(since === undefined ? [] : [`--since=${since}`]),
      ...['--end-of-options', tip, '--', ...paths],
    ],
    { gitDir: repository.gitDir, cwd: repository.workTree },
  ).catch((error: unknown) => {
    throw isMissingObject(error) ? missingObjects('all files of its history', error) : error;
  });
  const candidates: HistoryCommit[] = [];
  const leftOut: LeftOut[] = [];
  // No message and no line of changes can have a zero byte.
  const fields = output.toString().split('\0').slice(1);
  for (let at = 0; at < fields.length; at += FIELDS) {
    const [commit = '', parents = '', date = '', message = '', changes = ''] = fields.slice(at, at + FIELDS);
    const [parent = ''] = parents.split(' ');
    const read = readChanges(changes);
    const hasParent = COMMIT.test(commit) && COMMIT.test(parent);
    const reason = !hasParent ? 'it has no parent' : reasonToLeaveOut(read, message, options);
    const subject = message.split('\n', 1)[0] ?? '';
    if (reason !== undefined) leftOut.push({ commit, date, subject, reason });
    else candidates.push({ commit, parent, date, message: message.trim(), files: read.files });
  }
  const dates = await datesOf(
    repository,
    candidates.map((one) => one.parent),
  );
  return {
    candidates: candidates.map((one) => ({ ...one, ...present({ previousDate: dates.get(one.parent) }) })),
    leftOut,
    isShallow: existsSync(join(repository.commonDir, 'shallow')),
  };
}

/** The dates of commits, by id. */
async function datesOf({ gitDir }: Repository, commits: readonly string[]): Promise<Map<string, string>> {
  if (commits.length === 0) return new Map();
  const log = ['log', '--no-walk=unsorted', '--no-show-signature', '--format=%H %aI', '--stdin'];
  const output = await git(log, { gitDir, input: commits.join('\n') });
  const lines = output.toString().split('\n').filter(Boolean);
  return new Map(lines.map((line) => line.split(' ') as [string, string]));
}

/** Of one commit. */
const FIELDS = 5;
const COMMIT = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/;

type Changes = { files: ChangedFile[]; modes: Set<string>; hasOddName: boolean };

const CHANGES: Record<string, ChangedFile['change']> = { A: 'added', D: 'deleted', R: 'renamed', C: 'added' };

/** Raw lines (`:<modes> <ids> <status>\t<paths>`), then as many lines of numstat in the same order. */
function readChanges(text: string): Changes {
  const lines = text.split('\n').filter((line) => line !== '');
  const raw = lines.filter((line) => line.startsWith(':'));
  const counts = lines.filter((line) => !line.startsWith(':'));
  const modes = new Set<string>();
  const files = raw.map((line, index): ChangedFile => {
    const [facts = '', first = '', second] = line.split('\t');
    const [before = '', after = '', , , status = ''] = facts.slice(1).split(' ');
    modes.add(before).add(after);
    const path = second ?? first;
    const [added = '', deleted = ''] = (counts[index] ?? '').split('\t');
    return {
      path,
      change: CHANGES[status[0] ?? ''] ?? 'modified',
      kind: classifyPath(path),
      lines: added === '-' ? null : Number(added) + Number(deleted),
      ...present({ from: status.startsWith('R') ? first : undefined }),
    };
  });
  return { files, modes, hasOddName: files.some(({ path }) => path.startsWith('"')) };
}

function reasonToLeaveOut({ files, modes, hasOddName }: Changes, message: string, limits: ScanLimits) {
  const sources = files.filter(({ kind }) => kind === 'source');
  const tests = files.filter(({ kind, change }) => kind === 'test' && change !== 'deleted');
  if (/^(fixup|squash|amend)! /.test(message)) return 'it is meant to be squashed';
  if (/^(revert\b|Revert ")/i.test(message)) return 'it reverts another commit';
  if (files.length === 0) return 'it changes no file';
  if (hasOddName) return 'a path has control characters or quotes';
  if (modes.has('160000')) return 'it changes a submodule';
  if (sources.length === 0)
    return tests.length === 0 ? 'it changes neither sources nor tests' : 'it changes only tests';
  if (tests.length === 0) return 'it changes sources but no test';
  if (files.some(({ kind }) => kind === 'lock-file')) return 'it changes dependencies (a lock file)';
  if (sources.some(({ lines }) => lines === null)) return 'it changes a binary source';
  if (sources.every(({ lines, change }) => lines === 0 && change === 'renamed'))
    return 'it only renames sources';
  const counted = [...sources, ...files.filter(({ kind }) => kind === 'test')];
  if (counted.length > limits.maxFiles)
    return `it changes ${counted.length} files, more than ${limits.maxFiles}`;
  const lines = counted.reduce((sum, one) => sum + (one.lines ?? 0), 0);
  if (lines > limits.maxLines) return `it changes ${lines} lines, more than ${limits.maxLines}`;
  return undefined;
}
