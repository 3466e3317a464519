import { WhetstoneError } from '@whetstone/errors';
import { requireArgument, requireLimit, requireText } from '../expect/arguments.ts';
import { pathTest } from '../expect/commands.ts';
import type { AssertionHandle, Claim, FileChange, PendingAssertion, Subject } from './assertion.ts';
import type { Activities, ActivityWindow, Assertions, WorkspaceDiff } from './assertions.ts';
import type { CalledFunction } from './call-position.ts';
import { type Assert, createAssert } from './create-assert.ts';
import { eventClaims } from './event-claims.ts';
import { type Evidence, evidenceOf } from './evidence.ts';
import type { Moment } from './moments.ts';
import { type MaskTexts, secretClaim } from './secret-claim.ts';
import { activityClaim, activityOf, beforeClaim, type Window, withinClaims } from './temporal-claims.ts';
import { toolClaims } from './tool-claims.ts';
import { usageClaims } from './usage-claims.ts';
import { checkClaim, outputClaims } from './value-claims.ts';
import { workspaceClaims } from './workspace-claims.ts';

export type AssertionOptions = {
  /** Gives texts with the secrets that the host masks replaced; `undefined`: it knows none. Default: it knows none. */
  masked?: MaskTexts;
};

/**
 * Makes the assertion methods of `t`, a session or a turn. Each call looks at the subject of that moment, and `record`
 * gets the assertion at once; settle it when the eval has ended, because its handle may still be set.
 */
export function createAssertions(
  subject: () => Subject,
  record: (made: PendingAssertion) => void,
  { masked }: AssertionOptions = {},
): Assertions {
  const assert = createAssert(record);
  const evidence = (): Evidence => evidenceOf(subject());
  const { fileChanged, fileDeleted } = workspaceClaims;
  return {
    ...methods(assert, evidence, { ...usageClaims, ...toolClaims, ...eventClaims, fileChanged, fileDeleted }),
    ...methods(assert, subject, outputClaims),
    ...methods(assert, () => undefined, {
      check: (_, ...given: Parameters<typeof checkClaim>) => checkClaim(...given),
    }),
    ...methods(assert, evidence, {
      noSecretIn: (seen, place: Parameters<Assertions['noSecretIn']>[0], wanted?: readonly string[]) =>
        secretClaim(seen, place, wanted, masked),
    }),
    ...temporal(assert, evidence),
    diff: workspaceDiff(assert, evidence),
  } as Assertions;
}

/** The methods of these claims. What each looks at is asked for at the call. */
function methods<Seen, Name extends string>(
  assert: Assert,
  seen: () => Seen,
  claims: Record<Name, (seen: Seen, ...given: never[]) => Claim>,
): Record<Name, (...given: never[]) => AssertionHandle> {
  const made = {} as Record<Name, (...given: never[]) => AssertionHandle>;
  for (const name in claims) {
    made[name] = function called(...given) {
      return assert(claims[name](seen(), ...given), called);
    };
  }
  return made;
}

function activities(assert: Assert, evidence: () => Evidence, window: Window, isNever: boolean): Activities {
  const claims = Object.fromEntries(
    Object.entries(activityOf).map(([name, activity]) => [
      name,
      (seen: Evidence, ...given: never[]) =>
        activityClaim(
          seen,
          (activity as (...given: never[]) => ReturnType<typeof activityOf.read>)(...given),
          {
            window,
            isNever,
          },
        ),
    ]),
  );
  return methods(assert, evidence, claims) as unknown as Activities;
}

type Temporal = Pick<
  Assertions,
  'after' | 'before' | 'never' | 'ran' | 'read' | 'edited' | 'said' | 'within'
>;

function temporal(assert: Assert, evidence: () => Evidence): Temporal {
  const windowed = (side: 'after' | 'before', moment: Moment): ActivityWindow => {
    requireMoment(`${side}()`, moment);
    return {
      ...activities(assert, evidence, { side, moment }, false),
      never: activities(assert, evidence, { side, moment }, true),
    };
  };
  const { ran, read, edited, said } = activities(assert, evidence, undefined, false);
  function before(first: Moment): ActivityWindow;
  function before(first: Moment, second: Moment): AssertionHandle;
  function before(first: Moment, ...others: Moment[]): ActivityWindow | AssertionHandle {
    if (others.length === 0) return windowed('before', first);
    const [second] = others as [Moment];
    for (const moment of [first, second]) requireMoment('before()', moment);
    return assert(beforeClaim(evidence(), first, second), before);
  }
  return {
    ...{ ran, read, edited, said, before },
    never: activities(assert, evidence, undefined, true),
    after: (moment) => windowed('after', moment),
    within: (limit) => {
      requireLimit('within()', limit);
      const limits = {};
      for (const [name, claim] of Object.entries(withinClaims)) {
        const get: CalledFunction = () => assert(claim(evidence(), limit), get);
        Object.defineProperty(limits, name, { get, enumerable: true });
      }
      return limits as ReturnType<Temporal['within']>;
    },
  };
}

function requireMoment(method: string, moment: Moment): void {
  const wanted = 'a moment, such as `lastEdit` or `first(…)`';
  requireArgument(Object(moment).kind === 'moment', method, wanted, moment);
}

function workspaceDiff(assert: Assert, evidence: () => Evidence): WorkspaceDiff {
  const files = async (): Promise<readonly FileChange[]> => {
    const { changes } = evidence().subject;
    if (!changes) throw new WhetstoneError('agent-capability-missing', 'The agent has no workspace.');
    return changes();
  };
  const { changedOnly, excludes } = workspaceClaims;
  return {
    files,
    async get(path) {
      requireText('diff.get()', path, 'a path or glob');
      const isWanted = pathTest(path);
      return (await files()).find((change) => isWanted(change.path))?.after();
    },
    isEmpty: async () => (await files()).length === 0,
    patch: async () => (await files()).map(({ patch }) => patch).join(''),
    ...methods(assert, evidence, { changedOnly, excludes }),
  } as WorkspaceDiff;
}
