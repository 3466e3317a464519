import { expect, test } from 'vitest';
import { compileSchema } from './json-schema.ts';

test('a pattern that never finishes on a value of the agent ends at a time limit', () => {
  const compiled = compileSchema({ type: 'object', properties: { a: { pattern: '^(a+)+$' } } }, 200);
  if (compiled.kind === 'invalid') return expect.fail(compiled.problem.message);
  expect(compiled.misfit({ a: 'aaaa' })).toBeUndefined();
  expect(compiled.misfit({ a: `${'a'.repeat(60)}!` })).toEqual({
    pointer: '',
    message: 'could not be checked within 0.2 s',
  });
  expect(compiled.misfit({ a: 'b' })).toMatchObject({ pointer: '/a' });
});

test('schemas do not affect each other, also not with the same $id', () => {
  const first = compileSchema({ $id: 'https://example.com/answer', type: 'object' });
  const second = compileSchema({ $id: 'https://example.com/answer', type: 'string' });
  const broken = compileSchema({ $id: 'https://example.com/answer', type: 'text' });
  if (first.kind === 'invalid' || second.kind === 'invalid') return expect.fail('expected valid schemas');
  expect([first.misfit({}), second.misfit('')]).toEqual([undefined, undefined]);
  expect([first.misfit(''), second.misfit({})]).toMatchObject([{ pointer: '' }, { pointer: '' }]);
  expect(broken).toMatchObject({ kind: 'invalid', problem: { pointer: '/type' } });
});
