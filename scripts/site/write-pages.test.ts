import { expect, test } from 'vitest';
import { siteLinks } from './write-pages.ts';

test.each([
  ['cli.md', '[errors](errors.md#errors)', '[errors](errors.md#errors)'],
  ['cli.md', '[agents](agents/README.md)', '[agents](agents/index.md)'],
  ['agents/acp.md', '[pi](pi.md)', '[pi](pi.md)'],
  [
    'agents/acp.md',
    '[all](README.md), [context](../context.md)',
    '[all](index.md), [context](../context.md)',
  ],
  ['../CHANGELOG.md', '[matrix](docs/agents/matrix.md)', '[matrix](agents/matrix.md)'],
  ['../CHANGELOG.md', '[files](.changeset)', '[files](https://code.example/blob/HEAD/.changeset)'],
  ['cli.md', '[why](decisions.md)', '[why](https://code.example/blob/HEAD/docs/decisions.md)'],
  [
    'cli.md',
    '[here](#here), [there](https://a.example/b.md)',
    '[here](#here), [there](https://a.example/b.md)',
  ],
])('a link of %s leads to the same page on the site: %s', (page, written, onSite) => {
  expect(siteLinks(written, page, 'https://code.example')).toBe(onSite);
});
