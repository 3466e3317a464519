import { diffArrays } from 'diff';
import { expect, test } from 'vitest';

type Step = { key: string; name: string; input: string };
type Row = { a?: Step; b?: Step; isSame: boolean };
type Steps = {
  stepsOf(events: readonly unknown[]): Step[];
  alignSteps(
    a: readonly Step[],
    b: readonly Step[],
    diff: typeof diffArrays<string> | (() => undefined),
  ): Row[];
  firstDivergence(rows: readonly Row[]): { at: number; sentence: string };
};

const { stepsOf, alignSteps, firstDivergence }: Steps = await import(
  new URL('./steps.js', import.meta.url).href
);

const call = (callId: string, name: string, input: unknown) => [
  { type: 'action.called', callId, name, input },
  { type: 'action.result', callId, status: 'completed', output: `output of ${callId}` },
];

const aligned = (a: readonly unknown[], b: readonly unknown[]) =>
  alignSteps(stepsOf(a), stepsOf(b), diffArrays);

test('equal tool calls share a row, whatever the order of their fields and the folder of their workspace', () => {
  const rows = aligned(
    call('1', 'read', { path: '/w/w-8017ffdea49a/repo/src/a.js', limit: 3 }),
    call('9', 'read', { limit: 3, path: '/tmp/x/w-fc7148e52835/repo/src/a.js' }),
  );
  expect(rows).toHaveLength(1);
  expect(rows[0]).toMatchObject({ isSame: true, a: { input: 'src/a.js' }, b: { input: 'src/a.js' } });
  expect(firstDivergence(rows)).toEqual({
    at: -1,
    sentence: 'Both made the same tool call.',
  });
});

test('the first divergence says what each side did', () => {
  const rows = aligned(
    [
      ...call('1', 'ls', { dir: '.' }),
      ...call('2', 'shell', { command: 'npm test' }),
      ...call('3', 'done', {}),
    ],
    [...call('1', 'ls', { dir: '.' }), ...call('2', 'read', { path: 'AGENTS.md' }), ...call('3', 'done', {})],
  );
  expect(rows.map(({ isSame }) => isSame)).toEqual([true, false, true]);
  expect(firstDivergence(rows)).toEqual({
    at: 1,
    sentence: 'After 1 equal tool call: A did shell npm test; B did read AGENTS.md.',
  });
});

test('a side that did less has an empty place', () => {
  const rows = aligned(call('1', 'ls', { dir: '.' }), []);
  expect(rows).toEqual([{ a: expect.objectContaining({ name: 'ls' }), isSame: false }]);
  expect(firstDivergence(rows).sentence).toBe(
    'From the first tool call on: A did ls .; B did nothing more at this point.',
  );
});

test('without a difference that can be computed, steps are paired one by one', () => {
  const steps = stepsOf([...call('1', 'a', {}), ...call('2', 'b', {})]);
  const rows = alignSteps(steps, steps.slice(0, 1), () => undefined);
  expect(rows.map(({ isSame }) => isSame)).toEqual([true, false]);
});

test('hostile events make no step that cannot be drawn', () => {
  const events = [
    { type: 'action.called', callId: {}, name: { a: 1 }, input: [null, { toString: 1 }] },
    { type: 'action.called', name: null },
    { type: 'message', role: 'assistant', text: { x: 1 } },
  ];
  const steps = stepsOf(events);
  expect(steps.map(({ key, name, input }) => [typeof key, typeof name, typeof input])).toEqual(
    Array(2).fill(['string', 'string', 'string']),
  );
});
