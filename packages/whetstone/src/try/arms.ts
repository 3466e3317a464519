import { cp, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { makeEach } from '@whetstone/sandbox/files';
import { type Committed, compareWithCommit, type Subject } from './subject.ts';

/** The two arms of a comparison, as the keys of a configuration. Sources are absolute paths of copies. */
export type Arms = {
  baseline: string;
  /** The one that has the subject as it is on disk. */
  variant: string;
  variants: Record<string, Record<string, unknown>>;
  /** What the comparison asks, for people. */
  question: string;
  committed: Committed;
};

/**
 * Copies the subject into `folder`, so that a later edit of it changes no run, and makes the arms. Every task's tree gets the
 * same version of it, also where the commit of a task is an earlier one.
 */
export async function makeArms(
  subject: Subject,
  repository: { gitDir: string; commit: string; ref: string },
  folder: string,
): Promise<Arms> {
  const { kind, name, path, source } = subject;
  const after = join(folder, 'after', basename(source));
  const before = join(folder, 'before', basename(source));
  const committed = await compareWithCommit(subject, repository, before);
  await rm(dirname(after), { recursive: true, force: true });
  makeEach(dirname(after));
  await cp(source, after, { recursive: true, verbatimSymlinks: true });
  const away = path === undefined ? [] : [{ remove: [path] }];
  const having = (copy: string): Record<string, unknown> => {
    if (kind === 'skill') return { overlays: away, skills: [copy] };
    return path === undefined ? { instructions: copy } : { overlays: [{ source: copy, target: path }] };
  };
  const now = { description: `With ${name} as it is on disk`, ...having(after) };
  if (committed === 'another version') {
    return {
      ...{ baseline: 'before', variant: 'after', committed },
      variants: {
        before: { description: `With ${name} as ${repository.ref} has it`, ...having(before) },
        after: now,
      },
      question: `Does your change of ${name} help? What ${repository.ref} has against what is on disk.`,
    };
  }
  const how =
    path === undefined
      ? 'Each tree as it is against the same with it, put where each agent looks.'
      : committed === 'the same'
        ? `${repository.ref} has it as it is on disk: each tree without it against the same with it.`
        : `${repository.ref} does not have it: each tree as it is against the same with it.`;
  return {
    ...{ baseline: 'without', variant: 'with', committed },
    variants: { without: { description: `Without ${name}`, overlays: away }, with: now },
    question: `Does ${name} help? ${how}`,
  };
}
