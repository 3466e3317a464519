import { messageOf } from '@whetstone/errors';
import {
  requireArgument,
  requireKeys,
  requireMatcher,
  requirePattern,
  requireText,
  requireWord,
} from '../expect/arguments.ts';
import { pathTest } from '../expect/commands.ts';
import { allOf } from '../expect/logic.ts';
import { type Match, type Matcher, matchIf, unavailable } from '../expect/matcher.ts';
import type { TextPattern } from '../expect/patterns.ts';
import { contains } from '../expect/texts.ts';
import type { Claim, FileChange, Verdict } from './assertion.ts';
import { callText } from './call-text.ts';
import { type Evidence, eventsIn } from './evidence.ts';
import { given } from './tool-claims.ts';

type ChangeConditions = {
  status?: FileChange['status'];
  before?: Matcher<string>;
  after?: Matcher<string>;
};

/** The claims about the workspace: what the host found, not what the agent reported. */
export const workspaceClaims = {
  fileChanged(evidence: Evidence, path: string, conditions: ChangeConditions = {}): Claim {
    requireText('fileChanged()', path, 'a path or glob');
    requireChange('fileChanged()', conditions);
    const isWanted = pathTest(path);
    return {
      name: callText('fileChanged', path, given(conditions)),
      verdict: withChanges(evidence, async (changes) => {
        const candidates = changes.filter((change) => isWanted(change.path) || isWanted(change.from ?? ''));
        if (candidates.length === 0) return notFound(changes);
        const matches = await Promise.all(candidates.map((change) => fitsChange(change, conditions)));
        const best =
          matches.findIndex(({ status }) => status === 'matched') === -1
            ? matches.findIndex(({ status }) => status === 'unavailable')
            : matches.findIndex(({ status }) => status === 'matched');
        const at = Math.max(0, best);
        const [change, match] = [candidates[at], matches[at]] as [FileChange, Match];
        return verdictOf(match, `${told(change)}: ${match.reason}`, [change], evidence);
      }),
    };
  },

  fileDeleted(evidence: Evidence, path: string): Claim {
    requireText('fileDeleted()', path, 'a path or glob');
    const isWanted = pathTest(path);
    return {
      name: callText('fileDeleted', path),
      verdict: withChanges(evidence, (changes) => {
        const isGone = ({ status, path: at, from }: FileChange) =>
          status === 'deleted' ? isWanted(at) : status === 'renamed' && isWanted(from ?? '');
        const gone = changes.filter(isGone);
        if (gone.length > 0) return verdictOf(FINE, gone.map(told).join(', '), gone, evidence);
        return notFound(changes);
      }),
    };
  },

  changedOnly(evidence: Evidence, globs: readonly string[]): Claim {
    const isList = Array.isArray(globs) && globs.every((glob) => typeof glob === 'string');
    requireArgument(isList, 'diff.changedOnly()', 'a list of globs', globs);
    const tests = globs.map(pathTest);
    return {
      name: callText('diff.changedOnly', globs),
      verdict: withChanges(evidence, (changes) => {
        const others = changes.filter(({ path }) => !tests.some((test) => test(path)));
        const message = others.length > 0 ? `also changed: ${others.map(told).join(', ')}` : listed(changes);
        return verdictOf(matchIf(others.length === 0, message), message, others, evidence);
      }),
    };
  },

  excludes(evidence: Evidence, text: TextPattern): Claim {
    requirePattern('diff.excludes()', text);
    return {
      name: callText('diff.excludes', text),
      verdict: withChanges(evidence, (changes) => {
        const hits = changes.filter(({ patch }) => contains(patch, text));
        const message =
          hits.length > 0 ? `it is in the diff of ${hits.map(told).join(', ')}` : 'not in the diff';
        return verdictOf(matchIf(hits.length === 0, message), message, hits, evidence);
      }),
    };
  },
};

const STATUSES: readonly FileChange['status'][] = ['added', 'modified', 'deleted', 'renamed', 'mode'];

function requireChange(method: string, conditions: ChangeConditions): void {
  requireKeys(method, conditions, ['status', 'before', 'after']);
  const { status, before, after } = conditions;
  if (status !== undefined) requireWord(method, 'a status', status, STATUSES);
  for (const matcher of [before, after]) if (matcher !== undefined) requireMatcher(method, matcher);
}

const FINE: Match = { status: 'matched', reason: '' };

/** Runs a check on the changes. Without a workspace there are none to look at, which is not the same as no change. */
export async function withChanges(
  { subject }: Evidence,
  check: (changes: readonly FileChange[]) => Verdict | Promise<Verdict>,
): Promise<Verdict> {
  if (!subject.changes) return { status: 'unavailable', message: 'the agent has no workspace' };
  try {
    return await check(await subject.changes());
  } catch (error) {
    const why = messageOf(error);
    return { status: 'unavailable', message: `the changes could not be read: ${why}` };
  }
}

async function fitsChange(change: FileChange, { status, before, after }: ChangeConditions): Promise<Match> {
  const parts: Match[] = [];
  if (status !== undefined) parts.push(matchIf(change.status === status, `it was ${change.status}`));
  if (before) parts.push(await fitsText(before, await change.before(), 'before'));
  if (after) parts.push(await fitsText(after, await change.after(), 'after'));
  return parts.length === 0 ? FINE : allOf(parts);
}

async function fitsText(matcher: Matcher<string>, text: string | undefined, when: string): Promise<Match> {
  if (text === undefined) return unavailable(`${when}: there is no text`);
  const match = await matcher.match(text);
  return { ...match, reason: `${when}: ${match.reason}` };
}

function verdictOf(
  { status }: Match,
  message: string,
  changes: readonly FileChange[],
  evidence: Evidence,
): Verdict {
  const paths = new Set(changes.map(({ path }) => path));
  const events = eventsIn(evidence, 'file.changed')
    .filter(({ event }) => paths.has(event.path))
    .flatMap(({ indices }) => indices);
  const verdict = { message: message.replace(/: $/, ''), events };
  if (status === 'matched') return { status: 'passed', ...verdict };
  const text = changes
    .map(({ patch }) => patch)
    .join('\n')
    .slice(0, LONGEST_PATCH);
  return { status: status === 'mismatched' ? 'failed' : 'unavailable', ...verdict, text };
}

/** How much of a patch becomes evidence, in characters. */
const LONGEST_PATCH = 2000;

const notFound = (changes: readonly FileChange[]): Verdict => ({
  status: 'failed',
  message: listed(changes),
});

function listed(changes: readonly FileChange[]): string {
  if (changes.length === 0) return 'no file changed';
  const more = changes.length > 10 ? ` and ${changes.length - 10} more` : '';
  return `changed: ${changes.slice(0, 10).map(told).join(', ')}${more}`;
}

const told = ({ path, status, from }: FileChange): string =>
  `${path} (${status}${from === undefined ? '' : ` from ${from}`})`;
