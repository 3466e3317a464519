import { expect, test } from 'vitest';

type Place = { path: string; line: number };
type Source = { name: string; lines: { text: string; isHere: boolean }[] };
const {
  placesIn,
  sourceInPatch,
}: {
  placesIn: (lines: readonly string[], putBack: readonly string[]) => Place[];
  sourceInPatch: (places: readonly Place[], patch: string) => Source | undefined;
} = await import(new URL('./failed-place.js', import.meta.url).href);

const patch = `diff --git a/test/add.test.js b/test/add.test.js
--- a/test/add.test.js
+++ b/test/add.test.js
@@ -1,2 +1,2 @@
 import test from 'node:test';
-test('adds', () => assert.equal(add(1, 2), 3));
+test('adds', () => assert.ok(true));
`;
const output = ['AssertionError', '    at file:///w/w-10c7/repo/test/add.test.js:2:27'];

test('a place that an output names is shown as the patch has it', () => {
  const places = placesIn(output, []);
  expect(places).toEqual([{ path: 'test/add.test.js', line: 2 }]);
  const source = sourceInPatch(places, patch);
  expect(source?.name).toBe('test/add.test.js:2');
  expect(source?.lines.find(({ isHere }) => isHere)?.text).toContain('assert.ok(true)');
});

test('a test that the agent changed and the clean room put back is not shown as what failed', () => {
  expect(placesIn(output, ['test/add.test.js'])).toEqual([]);
});
