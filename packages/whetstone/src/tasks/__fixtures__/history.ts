import { mkdtempSync, realpathSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { initRepo } from '../../workspace/__fixtures__/git-folder.ts';
import { runGit } from '../../workspace/__fixtures__/test-repo.ts';

/** One commit on `main`: what it changes (`null` deletes), as text, bytes, or a commit of a submodule. */
export type HistoryStep = {
  message: string;
  files: Record<string, string | Buffer | { submodule: string } | null>;
  /** Commits of a branch that this commit merges; its own files are those of the merge. */
  branch?: Omit<HistoryStep, 'branch'>[];
};

/** Makes a repository with this history, one day per commit from 2026-01-01, with one Git process. */
export function makeHistory(steps: readonly HistoryStep[]): string {
  const root = realpathSync(mkdtempSync(join(tmpdir(), 'whetstone-test-')));
  initRepo(root);
  const parts: Buffer[] = [];
  let mark = 0;
  let tip = 0;
  const data = (bytes: Buffer | string) => {
    const content = Buffer.from(bytes);
    parts.push(Buffer.from(`data ${content.length}\n`), content, Buffer.from('\n'));
  };
  const commit = (ref: string, { message, files }: HistoryStep, parents: number[]): number => {
    mark += 1;
    const time = 1_767_225_600 + mark * 86_400;
    parts.push(Buffer.from(`commit ${ref}\nmark :${mark}\ncommitter Ada <ada@example.com> ${time} +0000\n`));
    data(message);
    const [first, ...others] = parents;
    if (first) parts.push(Buffer.from(`from :${first}\n`));
    for (const other of others) parts.push(Buffer.from(`merge :${other}\n`));
    for (const [path, content] of Object.entries(files)) {
      if (content === null) parts.push(Buffer.from(`D ${path}\n`));
      else if (typeof content === 'object' && 'submodule' in content) {
        parts.push(Buffer.from(`M 160000 ${content.submodule} ${path}\n`));
      } else {
        parts.push(Buffer.from(`M 100644 inline ${path}\n`));
        data(content);
      }
    }
    parts.push(Buffer.from('\n'));
    return mark;
  };
  for (const step of steps) {
    const start = tip;
    let side = start;
    for (const one of step.branch ?? []) side = commit('refs/heads/side', one, [side]);
    tip = commit('refs/heads/main', step, side === start ? (start ? [start] : []) : [start, side]);
  }
  runGit(root, ['fast-import', '--quiet', '--force'], Buffer.concat(parts));
  rmSync(join(root, '.git/refs/heads/side'), { force: true });
  runGit(root, ['reset', '-q', '--hard', 'main']);
  return root;
}
