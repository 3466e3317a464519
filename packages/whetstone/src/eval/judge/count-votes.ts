import { plural, show } from '../expect/show.ts';
import type { CriterionVote, Judgement, Vote } from './judgement.ts';

type Counted = Exclude<Vote, { problem: string }>;

/**
 * What the votes come to. A criterion is decided by more than half of all votes that were asked for; a vote that does not
 * count is missing, never a "no". All criteria have to be met, and one that is not decided leaves the whole open.
 */
export function countVotes(criteria: readonly string[], votes: readonly Vote[], judge: string): Judgement {
  const counted = votes.filter((vote): vote is Counted => 'criteria' in vote);
  const results = criteria.map((criterion, index) => {
    const ballots = counted.flatMap((vote) => vote.criteria[index] ?? []);
    const count = (met: CriterionVote['met']) => ballots.filter((one) => one.met === met).length;
    const [yes, no] = [count('yes'), count('no')];
    const isDecided = Math.max(yes, no) * 2 > votes.length;
    const reason = ballots.find(({ met }) => met === (yes > no ? 'yes' : 'no'))?.reason;
    return { criterion, yes, no, isDecided, reason };
  });
  const events = [...new Set(counted.flatMap((vote) => vote.criteria.flatMap((one) => one.events)))];
  const shared = {
    events: events.sort((a, b) => a - b),
    text: votes
      .map((vote, index) => voteText(vote, criteria, `vote ${index + 1} of ${votes.length}`))
      .join('\n'),
  };
  const open = results.find(({ isDecided }) => !isDecided);
  if (open) return { status: 'unavailable', message: whyOpen(open, votes, judge), ...shared };
  const unmet = results.filter(({ yes, no }) => no > yes);
  const score = results.reduce((sum, { yes }) => sum + yes / votes.length, 0) / results.length;
  const [first] = unmet;
  if (!first) {
    const what = criteria.length === 1 ? 'it is met' : `all ${criteria.length} criteria are met`;
    return { status: 'passed', message: `${judge}: ${what}${tally(results, votes)}`, score, ...shared };
  }
  const more = unmet.length > 1 ? ` (and ${unmet.length - 1} more)` : '';
  const which = criteria.length === 1 ? 'it is not met' : `not met: ${show(first.criterion)}`;
  const message = `${judge}: ${which}${tally([first], votes)}: ${first.reason ?? 'no reason'}${more}`;
  return { status: 'failed', message, score, ...shared };
}

function tally(results: readonly { yes: number; no: number }[], votes: readonly Vote[]): string {
  if (votes.length === 1) return '';
  const least = Math.min(...results.map(({ yes, no }) => Math.max(yes, no)));
  return ` (${least} of ${votes.length} votes)`;
}

function whyOpen(
  { criterion, yes, no }: { criterion: string; yes: number; no: number },
  votes: readonly Vote[],
  judge: string,
): string {
  const problem = votes.find((vote) => 'problem' in vote);
  if (problem && votes.length === 1) return problem.problem;
  const which = `${show(criterion)} is not decided: ${yes} yes, ${no} no of ${plural(votes.length, 'vote')}`;
  return `${judge}: ${which}${problem ? `; ${problem.problem}` : ''}`;
}

function voteText(vote: Vote, criteria: readonly string[], name: string): string {
  if ('problem' in vote) return `${name}: does not count: ${vote.problem}`;
  const lines = vote.criteria.map(({ met, reason, quotes }, index) => {
    const which = criteria.length === 1 ? '' : `criterion ${index + 1}: `;
    const quoted = quotes.map((quote) => ` ${show(quote)}`).join('');
    return `${name}: ${which}${met}: ${reason}${quoted === '' ? '' : ` [${quoted.trim()}]`}`;
  });
  if (vote.manipulation !== '') lines.push(`${name}: reports manipulation: ${vote.manipulation}`);
  return lines.join('\n');
}
