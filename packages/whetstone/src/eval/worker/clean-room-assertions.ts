import type { Claim } from '../assertions/assertion.ts';
import type { Assert } from '../assertions/create-assert.ts';
import { requireText } from '../expect/arguments.ts';
import type { CleanRoomCheck, TestCalls } from '../protocol.ts';
import type { CleanRoomAssertions } from '../test-context.ts';

/** The clean room works on the files of the moment of the call, like every other assertion. */
export function cleanRoomOf(assert: Assert, check: TestCalls['check']): CleanRoomAssertions {
  const claim = (name: string, what: CleanRoomCheck): Claim => ({
    name,
    verdict: check(what).then(({ status, message }) => ({
      ...{ status: status === 'broken' ? 'unavailable' : status, message },
    })),
  });
  return {
    testsPassed: function testsPassed() {
      return assert(claim('testsPassed()', { tests: true }), testsPassed);
    },
    scriptPassed: function scriptPassed(script) {
      requireText('scriptPassed()', script, 'the name of a script');
      return assert(claim(`scriptPassed(${JSON.stringify(script)})`, { script }), scriptPassed);
    },
  };
}
