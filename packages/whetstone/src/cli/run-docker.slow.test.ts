import { afterAll, afterEach, expect, test } from 'vitest';
import { makeTestImage } from '../../../sandbox/src/__fixtures__/test-image.ts';
import type { Project } from './__fixtures__/project.ts';
import { expectSealedCase } from './__fixtures__/sealed-case.ts';

const image = await makeTestImage();
let project: Project;
afterEach(() => project?.[Symbol.dispose]());
afterAll(() => image?.remove());

test.runIf(image)(
  'a case in containers has its tree, its environment, its services and the gateway, and nothing else',
  { tags: 'docker' },
  async () => {
    const { container, readable } = image ?? { container: undefined, readable: [] };
    const { manifest } = (
      await expectSealedCase(
        {
          sandbox: { provider: 'docker', ...container, readable },
          provider: 'docker',
          level: 2,
        },
        (made) => {
          project = made;
        },
      )
    ).latest();
    expect(manifest.isolation.container).toEqual({
      ...{ name: container?.image, digest: null, runtime: container?.runtime ?? null },
      id: expect.stringMatching(/^sha256:/),
    });
  },
);
