import type { CaseRow } from '../record/row.ts';

type Assertion = NonNullable<CaseRow['assertions']>[number];

/** One line per assertion, those that did not pass first. */
export function assertionLines({ assertions = [] }: CaseRow): string[] {
  const rank = ({ status }: Assertion) => (status === 'passed' ? 1 : 0);
  return assertions.toSorted((a, b) => rank(a) - rank(b)).map(assertionLine);
}

/** One line per assertion that did not pass. */
export const unmetAssertions = ({ assertions = [] }: CaseRow): string[] =>
  assertions.filter(({ status }) => status !== 'passed').map(assertionLine);

/** `failed: Greeting › calledTool("greet") (evals/hello.eval.ts:6): no call of greet [events 3, 5]`: lines of events.jsonl. */
function assertionLine(one: Assertion): string {
  const { group, label, name, at, status, severity, optional, score, points, message, evidence } = one;
  const title = [group, label ?? name].filter((part) => part !== undefined).join(' › ');
  const place = at ? ` (${at.file}:${at.line})` : '';
  const kind = severity === 'soft' ? ', soft' : optional ? ', optional' : '';
  const grade =
    score === undefined ? '' : `, score ${score.toFixed(2)}${points === undefined ? '' : ` of ${points}`}`;
  const events = evidence.events.length === 0 ? '' : ` [events ${evidence.events.join(', ')}]`;
  return `${status}${kind}${grade}: ${title}${place}: ${message}${events}`;
}
