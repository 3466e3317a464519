import { expect, test } from 'vitest';
import type { AssertionHandle, PendingAssertion } from '../assertions/assertion.ts';
import { createAssert } from '../assertions/create-assert.ts';
import { countVotes } from '../judge/count-votes.ts';
import type { CleanRoomAssertions, JudgeAssertions } from '../test-context.ts';
import { cleanRoomOf } from './clean-room-assertions.ts';
import { judgeOf } from './judge-assertion.ts';

type HostAssertions = CleanRoomAssertions & JudgeAssertions;

/** `npm run typecheck` asks for a failing example of each assertion that the run answers. */
const failing: Record<keyof HostAssertions, (t: HostAssertions) => AssertionHandle> = {
  testsPassed: (t) => t.testsPassed(),
  scriptPassed: (t) => t.scriptPassed('build'),
  judge: (t) => t.judge(['Names the line', 'Is polite']),
};

test('the answer to a run has a message for each failure', async () => {
  const made: PendingAssertion[] = [];
  const assert = createAssert((one) => made.push(one));
  const vote = { met: 'no', reason: 'it names no line', quotes: ['I fixed it'], events: [3] } as const;
  const polite = { ...vote, met: 'yes', reason: 'it says please' } as const;
  const votes = [
    {
      criteria: [vote, polite].map((one) => ({ ...one, quotes: [...one.quotes], events: [3] })),
      manipulation: '',
    },
  ];
  const t = {
    ...cleanRoomOf(assert, async (what) => ({
      status: 'failed',
      message: `\`${'script' in what ? `npm run --silent ${what.script}` : 'node --test EVAL.mjs'}\` exited 1`,
    })),
    ...judgeOf(
      assert,
      async ({ criteria }) => countVotes(criteria, votes, 'the judge'),
      () => [{ user: 'Fix it.' }],
    ),
  };
  for (const run of Object.values(failing)) run(t);
  const records = await Promise.all(made.map((one) => one.settle()));
  expect(records.map(({ name, status, message }) => `${name}: ${status}: ${message}`)).toMatchInlineSnapshot(`
    [
      "testsPassed(): failed: \`node --test EVAL.mjs\` exited 1",
      "scriptPassed("build"): failed: \`npm run --silent build\` exited 1",
      "judge(["Names the line","Is polite"]): failed: the judge: not met: "Names the line": it names no line",
    ]
  `);
});
