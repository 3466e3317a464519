import type { Draft } from './draft.ts';
import type { IntroducedNames } from './introduced-names.ts';
import { cleanStatement } from './leaks.ts';
import type { FindIssue, Issue } from './read-issues.ts';

/** Where a statement comes from, the best first. `model`: one has written it. `tests`: the failing tests are the statement. */
export type Grade = 'issue' | 'pull request' | 'session' | 'commit' | 'model' | 'tests';

export type Statement = {
  grade: Grade;
  prompt: string;
  /** What the text was taken from, such as `#12`, or the model. Absent for `commit` and `tests`. */
  source?: string;
  /** What a model has cost, if the text is its own; `null`: no price is known. */
  costUsd?: number | null;
  /** What a person should look at before the task is used. */
  review: string[];
  /** Better sources that were there, and why none of them was taken. */
  passedOver: string[];
};

/** A text that could be the statement of a task. */
export type StatementSource = { grade: Exclude<Grade, 'tests'>; text: string } & Pick<
  Statement,
  'source' | 'costUsd'
>;

/** In words. Below that, a text does not say what is wanted. */
const SHORTEST: Record<StatementSource['grade'], number> = {
  issue: 12,
  'pull request': 12,
  session: 8,
  commit: 20,
  model: 12,
};

/** The texts about a commit: issues that it names, its pull request, the user's prompts, its message. The best first. */
export async function statementSources(
  { message }: { message: string },
  findIssue: FindIssue,
  prompts: readonly StatementSource[] = [],
): Promise<StatementSource[]> {
  const issuesOf = async (text: string) =>
    (await Promise.all(numbersIn(text).map(findIssue))).filter((issue) => issue !== undefined);
  const named = await issuesOf(message);
  const pulls = named.filter(({ isPullRequest }) => isPullRequest);
  const behind = (await Promise.all(pulls.map(({ body }) => issuesOf(body)))).flat();
  const all = [...new Map([...named, ...behind].map((issue) => [issue.number, issue])).values()];
  const sourceOf = ({ number, title, body, isPullRequest }: Issue): StatementSource => ({
    grade: isPullRequest ? 'pull request' : 'issue',
    text: `${title}\n\n${body}`,
    source: `#${number}`,
  });
  return [
    ...all.filter(({ isPullRequest }) => !isPullRequest).map(sourceOf),
    ...all.filter(({ isPullRequest }) => isPullRequest).map(sourceOf),
    ...prompts,
    { grade: 'commit', text: message },
  ];
}

const numbersIn = (text: string): number[] => [
  ...new Set([...text.matchAll(/(?<![\w/])#(\d+)\b/g)].map(([, number]) => Number(number))),
];

/**
 * The first text that says what is wanted and does not give it away; without any, the failing tests. `commits`: ids in the
 * texts that the repository knows.
 */
export function stateTask(
  draft: Draft,
  failToPass: readonly string[],
  {
    sources,
    names,
    commits,
  }: { sources: readonly StatementSource[]; names: IntroducedNames; commits: ReadonlySet<string> },
): Statement {
  const passedOver: string[] = [];
  for (const { grade, text, ...from } of sources) {
    const { text: prompt, review, leak } = cleanStatement(text, draft, names, commits);
    const what = from.source ?? 'the commit message';
    const words = prompt.split(/\s+/).filter(Boolean).length;
    const unnamed = names.needed.filter((name) => !prompt.includes(name));
    if (words < SHORTEST[grade]) passedOver.push(`${what}: only ${words} ${words === 1 ? 'word' : 'words'}`);
    else if (leak !== undefined) passedOver.push(`${what}: ${leak}`);
    else if (unnamed.length > 0)
      passedOver.push(`${what}: does not name ${unnamed.join(', ')}, which the tests use`);
    else return { grade, prompt, review, passedOver, ...from };
  }
  return { grade: 'tests', prompt: testsAsStatement(draft, failToPass), review: [], passedOver };
}

const SHOWN_TESTS = 20;

function testsAsStatement({ tests, missing }: Draft, failToPass: readonly string[]): string {
  const more = failToPass.length - SHOWN_TESTS;
  return [
    ...(missing === undefined ? [] : [`${missing} is not written yet.`, '']),
    'These tests fail:',
    '',
    ...failToPass.slice(0, SHOWN_TESTS).map((id) => `- ${visible(id)}`),
    ...(more > 0 ? [`- and ${more} more in these files`] : []),
    '',
    `They are in ${tests.files.join(', ')} and describe the behaviour that is wanted.`,
    'Change the code so that they pass and the other tests of these files still do. Do not change the tests.',
  ].join('\n');
}

/** A name with its control characters as escapes: the names of tests may hold any, and no prompt may hold a NUL. */
const visible = (name: string): string =>
  name.replace(/\p{Cc}/gu, (control) => `\\u${control.charCodeAt(0).toString(16).padStart(4, '0')}`);
