import { WhetstoneError } from '@whetstone/errors';
import { findTag } from '../record/find-run.ts';
import { writeDerived } from '../record/run-record.ts';
import { isTag, type RunTags, readTags } from '../record/tags.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { paragraphLines } from '../report/text-layout.ts';
import type { RunEntry } from '../view/api.ts';
import { openStoredRuns } from '../view/load-runs.ts';
import { locateRun, outputDirectoryOf } from './report.ts';
import type { Streams } from './streams.ts';
import { type Colors, terminalColors, terminalWidth } from './terminal-features.ts';

type Options = { config?: string; json?: boolean };
type Output = Pick<Streams, 'stdout'>;

/** Prints the runs of an output directory, the newest first, with their tags and notes. */
export async function listRunsCommand(options: Options, { stdout }: Output): Promise<number> {
  const directory = await outputDirectoryOf(options.config);
  const list = await openStoredRuns(directory).list();
  if (options.json) {
    stdout.write(escapedJson({ output_dir: directory, ...list }));
    return 0;
  }
  const view = { colors: terminalColors(stdout), width: Math.max(40, terminalWidth(stdout)) };
  const lines = list.runs.flatMap((run) => runLines(run, view));
  if (lines.length === 0) lines.push(`There are no runs in ${directory}. Start one with: whetstone run`);
  if (list.older > 0) lines.push('', `${counted(list.older, 'older run')} in ${directory}`);
  stdout.write(`${lines.join('\n')}\n`);
  return 0;
}

function runLines(run: RunEntry, { colors, width }: { colors: Colors; width: number }): string[] {
  if (run.problem !== null)
    return paragraphLines(oneLine(`${run.id}  ${run.problem}`), width).map(colors.yellow);
  const { id, state, cases, agents, variants, tags, note, headline } = run;
  const head = [id, ...tags.map((tag) => `[${tag}]`), ...(state === 'finished' ? [] : [state])].join('  ');
  const missing = cases.missing > 0 ? `, ${cases.missing} not finished` : '';
  const errors = cases.error > 0 ? `, ${counted(cases.error, 'error')}` : '';
  const facts = `${agents.join(', ')} · ${variants.join(', ')} · ${cases.passed} of ${counted(cases.planned, 'case')} passed${errors}${missing}`;
  return [
    ...paragraphLines(oneLine(head), width).map(colors.bold),
    ...[facts, headline, ...(note === null ? [] : [`Note: ${note}`])].flatMap((text) =>
      paragraphLines(oneLine(text), width, '  '),
    ),
  ];
}

/** Gives a run a tag, which then stands for the run in every command. A tag that another run has moves. */
export async function tagRunCommand(
  reference: string,
  tag: string,
  options: Options & { delete?: boolean },
  { stdout }: Output,
): Promise<number> {
  requireTag(tag);
  const directory = await locateRun(reference, options.config);
  const { labels, former } = options.delete
    ? { labels: await change(directory, without(tag)), former: undefined }
    : await giveTag(directory, tag, await outputDirectoryOf(options.config));
  const moved = former !== undefined && former !== directory ? ` It was the tag of ${former}.` : '';
  const done = options.delete
    ? `${tag} is not a tag of ${directory} now.`
    : `${tag} is a tag of ${directory}.${moved}`;
  stdout.write(options.json ? escapedJson({ directory, ...labels }) : `${done}\n`);
  return 0;
}

function requireTag(tag: string): void {
  if (isTag(tag)) return;
  throw new WhetstoneError('tag-invalid', `${JSON.stringify(tag)} cannot be a tag.`, {
    hint: 'A tag begins with a letter and has letters, digits, ".", "_" and "-", at most 64; "latest" is taken.',
  });
}

/** Gives a run a tag, which the run that had it loses. `former`: that run. */
export async function giveTag(directory: string, tag: string, outputDir: string) {
  requireTag(tag);
  const former = await findTag(tag, outputDir);
  if (former !== undefined && former !== directory) await change(former, without(tag));
  return { labels: await change(directory, withTag(tag)), former };
}

/** Keeps a note about a run, in place of the one before. An empty text removes it. */
export async function noteRunCommand(
  reference: string,
  text: string,
  options: Options,
  { stdout }: Output,
): Promise<number> {
  const directory = await locateRun(reference, options.config);
  const note = text.trim() === '' ? null : text.trim();
  const labels = await change(directory, (known) => ({ ...known, note }));
  const done = note === null ? `${directory} has no note now.` : `The note is kept in ${directory}.`;
  stdout.write(options.json ? escapedJson({ directory, ...labels }) : `${done}\n`);
  return 0;
}

const withTag =
  (tag: string) =>
  ({ tags, note }: RunTags): RunTags => ({ tags: [...new Set([...tags, tag])], note });

const without =
  (tag: string) =>
  ({ tags, note }: RunTags): RunTags => ({ tags: tags.filter((one) => one !== tag), note });

async function change(directory: string, edit: (known: RunTags) => RunTags): Promise<RunTags> {
  const edited = edit(await readTags(directory));
  await writeDerived({ directory }, 'tags', `${JSON.stringify(edited, null, 2)}\n`);
  return edited;
}
