import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

/**
 * A second attempt, because released programs, browsers and killed processes race with the machine. The end of the run names
 * each test that needed it. A counterexample of a property gets none: the next attempt draws other values.
 */
export const secondAttempt = { count: 1, condition: /^(?!Property failed)/ };

/** What starts the program again and again, kills it, or plays thousands of sessions: with a command of its own. */
export default defineConfig({
  test: {
    ...everyday.test,
    include: ['packages/*/src/**/*.slow.test.ts', 'scripts/**/*.slow.test.ts', 'examples/**/*.slow.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    isolate: true,
    // Some take most of a minute on two quick cores.
    testTimeout: 180_000,
    retry: secondAttempt,
  },
});
