import { test } from 'vitest';
import { createMemoryEnvironment } from '../__fixtures__/memory-environment.ts';
import { checkRandomSessions } from '../__fixtures__/random-invariants.ts';

// The slow tests play more of them, with real files.
test('whatever happens, in 2,000 random sessions: requests are valid, events nest, snapshots restore', async () => {
  await checkRandomSessions(2_000, createMemoryEnvironment);
});
