import { describe, test } from 'vitest';
import { createMemoryEnvironment } from '../__fixtures__/memory-environment.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { conformanceChecks } from './conformance.ts';
import { RecordingExecutionEnvironment } from './wrappers.ts';

describe.concurrent('LocalExecutionEnvironment', () => {
  test.each(conformanceChecks)('$area: $name', { timeout: 60_000 }, async ({ run }) => {
    await using place = await temporaryEnvironment();
    await run(place.environment);
  });
});

describe.concurrent('a wrapper around it', () => {
  const quick = conformanceChecks.filter(({ area }) => area === 'files' || area === 'outputs');
  test.each(quick)('$area: $name', async ({ run }) => {
    await using place = await temporaryEnvironment();
    await run(new RecordingExecutionEnvironment(place.environment));
  });
});

describe.concurrent('an environment in memory', () => {
  test.each(conformanceChecks.filter(({ area }) => area === 'files'))('$name', async ({ run }) => {
    await run(createMemoryEnvironment());
  });
});
