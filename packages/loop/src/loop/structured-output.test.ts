import { expect, test } from 'vitest';
import { calls, says, scriptedModel, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import { Session } from '../session/session.ts';

const outputSchema = {
  type: 'object',
  properties: { bugs: { type: 'integer' } },
  required: ['bugs'],
  additionalProperties: false,
};

test('an answer that fits is the output', async () => {
  await using run = await startSession([
    calls(toolCall('glob', { pattern: '*' })),
    says('```json\n{"bugs": 2}\n```'),
  ]);
  const result = await run.session.submit('count', { outputSchema });
  expect(result).toMatchObject({ reason: 'completed', output: { bugs: 2 } });
  const told = JSON.stringify(run.model.requests[0]?.prompt);
  expect(told).toContain('JSON Schema');
  expect(run.model.requests[0]?.responseFormat).toBeUndefined();
});

test('an answer that does not fit is requested once more, with the reason', async () => {
  await using run = await startSession([says('two bugs'), says('{"bugs":"two"}'), says('never')]);
  const result = await run.session.submit('count', { outputSchema });
  expect(result).toMatchObject({ reason: 'error', modelCalls: 2, error: { code: 'output-invalid' } });
  expect(result.output).toBeUndefined();
  expect(result.error?.message).toMatch(/\/bugs must be integer/);
  expect(run.of('STEERING_INJECTED')[0]?.data.content).toMatch(/the answer is not valid JSON/);

  await using mended = await startSession([says(''), says('{"bugs":1}')]);
  expect(await mended.session.submit('count', { outputSchema })).toMatchObject({ output: { bugs: 1 } });
});

test('the answer after a parked call has to fit, also in a restored session', async () => {
  await using run = await startSession([calls(toolCall('glob', { pattern: '*' }, 'a'))], {
    approve: () => ({ decision: 'parked' }),
  });
  expect(await run.session.submit('count', { outputSchema })).toMatchObject({ reason: 'parked' });
  const saved = JSON.parse(JSON.stringify(await run.session.snapshot()));
  const { profile } = run;
  const model = scriptedModel([says('two'), says('{"bugs":2}')]);
  await using later = Session.restore(saved, { profile, environment: run.place.environment, model });
  expect(await later.resume({ a: { decision: 'approved' } })).toMatchObject({ output: { bugs: 2 } });
  expect(await later.snapshot()).not.toHaveProperty('outputSchema');
});

test('a schema with $async is checked like any other', async () => {
  await using run = await startSession([says('{"bugs":"two"}'), says('{"bugs":2}')]);
  const schema = { ...outputSchema, $async: true };
  expect((await run.session.submit('count', { outputSchema: schema })).output).toEqual({ bugs: 2 });
});

test('a property that the schema forbids is let through for tools, and not in an answer', async () => {
  await using run = await startSession([says('{"bugs":1,"x":2}'), says('{"bugs":1}')]);
  expect((await run.session.submit('count', { outputSchema })).output).toEqual({ bugs: 1 });
  expect(run.of('STEERING_INJECTED')[0]?.data.content).toContain('must NOT have additional properties ("x")');
});

test('a wire that can hold an answer to a schema does', async () => {
  const model = scriptedModel([says('{"bugs":0}'), says('free again')], 'openai.responses');
  await using run = await startSession([], { model });
  expect(await run.session.submit('count', { outputSchema })).toMatchObject({ output: { bugs: 0 } });
  await run.session.submit('and now');
  expect(model.requests.map((request) => request.responseFormat)).toEqual([
    { type: 'json', schema: outputSchema },
    undefined,
  ]);
  expect(JSON.stringify(model.requests[0]?.prompt)).not.toContain('JSON Schema');
  expect(model.requests[0]?.providerOptions?.openai).toMatchObject({ strictJsonSchema: false });
});

test.each<[string, unknown, string]>([
  ['null', null, 'SubmitOptions.outputSchema is null; it must be an object'],
  ['false', false, 'SubmitOptions.outputSchema is false; it must be an object'],
  ['a type that there is not', { type: 'objct' }, '/type must be equal to one of the allowed values'],
  [
    'one further down',
    { type: 'object', properties: { bugs: { type: 'int' } } },
    '/properties/bugs/type must be equal to one of the allowed values',
  ],
  ['a list at the root', { type: 'array' }, '/type is "array"; it must be "object"'],
  ['a property that is a number', { properties: { bugs: 5 } }, '/properties/bugs must be object,boolean'],
  ['a reference to nowhere', { $ref: '#/$defs/a' }, "can't resolve reference #/$defs/a"],
  ['a pattern that is none', { properties: { a: { pattern: '(' } } }, 'Invalid regular expression: /(/'],
])('an output schema that is or has %s is refused before the first model call', async (_, schema, why) => {
  await using run = await startSession([says('{"bugs":1}')]);
  const refused = run.session.submit('count', { outputSchema: schema as never });
  await expect(refused).rejects.toMatchObject({
    code: 'session-option-invalid',
    message: expect.stringContaining(why),
  });
  expect(run.model.requests).toEqual([]);
  expect([run.session.state, run.session.history.length, run.kinds()]).toEqual([
    'IDLE',
    0,
    ['SESSION_START'],
  ]);
  expect(await run.session.submit('count', { outputSchema })).toMatchObject({ output: { bugs: 1 } });
});

test('an option of submit that does not exist is refused', async () => {
  await using run = await startSession([]);
  const refused = run.session.submit('count', { outputSchma: outputSchema } as never);
  await expect(refused).rejects.toThrow('SubmitOptions.outputSchma does not exist');
});
