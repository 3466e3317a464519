import type { AssertionRecord } from '../eval/assertions/assertion.ts';
import type { Tested, TestFailure } from '../eval/protocol.ts';
import type { Verification } from '../verify/verify.ts';

/** With the path of the file relative to the project, as far as it is in it. */
export function placedBelow<Placed extends { at?: { file: string; line: number; column: number } }>(
  placed: Placed,
  root: string,
): Placed {
  const { at } = placed;
  return at?.file.startsWith(`${root}/`)
    ? { ...placed, at: { ...at, file: at.file.slice(root.length + 1) } }
    : placed;
}

/** An eval that could not be judged is missing data; else the first gate that did not hold is the failure. */
export function joinVerdicts(
  verification: Verification,
  assertions: readonly AssertionRecord[],
  { failure, skipped }: Tested,
): Verification {
  if (skipped !== undefined) return { ...verification, skipped };
  const gates = assertions.filter(({ severity }) => severity === 'gate');
  const unavailable = gates.find(({ status, optional }) => status === 'unavailable' && !optional);
  const failed = gates.filter(({ status }) => status === 'failed');
  const broken = failure
    ? `the eval's code failed${placeOf(failure.at)}: ${failure.message}`
    : unavailable &&
      `${nameOf(unavailable)}${placeOf(unavailable.at)} could not be evaluated: ${unavailable.message}`;
  if (broken !== undefined) return { ...verification, broken: { class: 'verifier', evidence: broken } };
  const [first] = failed;
  if (verification.failure !== undefined || !first) return verification;
  const more = failed.length > 1 ? ` (and ${failed.length - 1} more)` : '';
  return {
    ...verification,
    failure: `${nameOf(first)}${placeOf(first.at)}: ${first.message}${more}`,
  };
}

const nameOf = ({ name, label, group }: AssertionRecord): string =>
  [group, label ?? name].filter((part) => part !== undefined).join(': ');

const placeOf = (at: TestFailure['at']): string => (at ? ` (${at.file}:${at.line})` : '');
