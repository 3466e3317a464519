import { defineConfig } from 'vitest/config';
import everyday from './vitest.config.ts';

/** What starts the program again and again, kills it, or plays thousands of sessions: with a command of its own. */
export default defineConfig({
  test: {
    ...everyday.test,
    include: ['packages/*/src/**/*.slow.test.ts', 'scripts/**/*.slow.test.ts', 'examples/**/*.slow.test.ts'],
    exclude: ['**/node_modules/**', '**/dist/**'],
    isolate: true,
  },
});
