import { afterEach, test } from 'vitest';
import { hasBubblewrap } from '../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import type { Project } from './__fixtures__/project.ts';
import { expectSealedCase } from './__fixtures__/sealed-case.ts';

let project: Project;
afterEach(() => project?.[Symbol.dispose]());

test.runIf(hasBubblewrap)(
  'a sealed case has its tree, its environment, its services and the gateway, and nothing else',
  { tags: 'bubblewrap' },
  async () => {
    await expectSealedCase(
      { sandbox: { provider: 'bubblewrap' }, provider: 'bubblewrap', level: 1 },
      (made) => {
        project = made;
      },
    );
  },
);
