import type { Reporter, TestCase, TestModule, Vitest } from 'vitest/node';
import { testNeeds } from './test-needs.ts';

/**
 * Ends a test run with one line per test that failed at first, one per cause of skipped tests, and one plain line of
 * counts for programs that read logs.
 */
export default class ClosingReporter implements Reporter {
  #isWhole = true;

  onInit({ config }: Vitest): void {
    this.#isWhole = config.testNamePattern === undefined && !config.tagsFilter?.length;
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const tests = modules.flatMap((module) => [...module.children.allTests()]);
    const count = (state: string) => tests.filter((test) => test.result().state === state).length;
    listFlaky(tests.filter((test) => test.diagnostic()?.flaky));
    // With a pattern, most tests are skipped on purpose.
    if (this.#isWhole) listCauses(tests.filter((test) => test.result().state === 'skipped'));
    console.log(`\n${count('passed')} passed, ${count('failed')} failed, ${count('skipped')} skipped`);
  }
}

function listFlaky(tests: readonly TestCase[]): void {
  if (tests.length > 0) console.log('\nFailed at the first attempt and passed at the second:');
  for (const test of tests) {
    const [error] = test.result().errors ?? [];
    console.log(`  - ${nameOf(test)}${error === undefined ? '' : `: ${error.message.split('\n')[0]}`}`);
    // The message alone shortens long values.
    const seen = error?.diff?.split('\n').slice(0, 20) ?? [];
    for (const line of seen) console.log(`    ${line}`);
  }
}

function listCauses(skipped: readonly TestCase[]): void {
  const causes = Object.entries(Object.groupBy(skipped, causeOf));
  if (causes.length === 0) return;
  console.log('\nSkipped on this machine (npm run setup:system installs what is optional):');
  for (const [cause, tests = []] of causes) console.log(`  - ${cause}: ${tests.length} skipped`);
}

/** A test that is skipped without a known need has its own line, so that it is noticed. */
function causeOf(test: TestCase): string {
  const needs = testNeeds
    .filter(({ name }) => test.tags.includes(name))
    .map(({ description }) => description);
  return needs.length === 0 ? `${nameOf(test)}, for no reason given` : needs.join(', or ');
}

const nameOf = ({ module, fullName }: TestCase): string => `${module.relativeModuleId} > ${fullName}`;
