import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { call, postJson } from '../../__fixtures__/clients.ts';
import { createGateway, type Gateway, type Lane, type ScriptStep } from '../../index.ts';
import { parseGenerateContentRequest } from './parse.ts';

const parse = (body: unknown, target = {}) =>
  parseGenerateContentRequest(Buffer.from(JSON.stringify(body)), target);

test('a request of Gemini CLI in the middle of a turn is read', () => {
  const request = parse(
    {
      systemInstruction: { role: 'user', parts: [{ text: 'You are an agent.' }] },
      contents: [
        { role: 'user', parts: [{ text: '<context/>' }, { text: 'Fix it.' }] },
        {
          role: 'model',
          parts: [
            { text: 'Look.', thought: true },
            { text: 'Looking.' },
            {
              functionCall: { id: 'c1', name: 'run_shell_command', args: { command: 'ls' } },
              thoughtSignature: 's',
            },
            { functionCall: { name: 'read_file', args: {} } },
          ],
        },
        {
          role: 'user',
          parts: [
            { functionResponse: { id: 'c1', name: 'run_shell_command', response: { output: 'a.ts' } } },
            { functionResponse: { name: 'read_file', response: { error: 'none' } } },
          ],
        },
        { role: 'user', parts: [{ text: 'Hurry.' }, { inlineData: { mimeType: 'image/png', data: '' } }] },
      ],
      tools: [
        {
          functionDeclarations: [
            { name: 'run_shell_command', description: 'Runs.', parametersJsonSchema: { type: 'object' } },
            {
              name: 'read_file',
              parameters: { type: 'OBJECT', properties: { type: { type: 'STRING', enum: ['TYPE'] } } },
            },
          ],
        },
        { googleSearch: {} },
      ],
      generationConfig: { responseMimeType: 'application/json', responseJsonSchema: { type: 'object' } },
    },
    { model: 'gemini-2.5-pro', stream: true },
  );
  expect(request).toMatchObject({
    model: 'gemini-2.5-pro',
    stream: true,
    instructions: 'You are an agent.',
    responseSchema: { type: 'object' },
    tools: [
      { name: 'run_shell_command', kind: 'function', description: 'Runs.', parameters: { type: 'object' } },
      {
        name: 'read_file',
        kind: 'function',
        // A property may be called `type`; only the types of schemas become lower case.
        parameters: { type: 'object', properties: { type: { type: 'string', enum: ['TYPE'] } } },
      },
      { name: 'googleSearch', kind: 'hosted' },
    ],
  });
  expect(request.messages).toEqual([
    { role: 'user', text: '<context/>\nFix it.' },
    {
      role: 'assistant',
      text: 'Looking.',
      thinking: 'Look.',
      toolCalls: [
        { kind: 'function', id: 'c1', name: 'run_shell_command', input: { command: 'ls' } },
        { kind: 'function', id: 'read_file', name: 'read_file', input: {} },
      ],
    },
    {
      role: 'tool',
      toolResults: [
        { callId: 'c1', name: 'run_shell_command', output: 'a.ts' },
        { callId: 'read_file', name: 'read_file', output: 'none' },
      ],
    },
    { role: 'user', text: 'Hurry.' },
  ]);
});

test.each([
  {
    contents: [
      null,
      7,
      {},
      { role: 'model', parts: 'x' },
      { role: 'user', parts: [{ functionResponse: 3 }] },
    ],
  },
  {
    contents: 'none',
    tools: [{}, { functionDeclarations: [{}] }],
    systemInstruction: 7,
    generationConfig: [],
  },
])('values of the wrong shape are skipped: %j', (body) => {
  expect(() => parse(body)).not.toThrow();
});

describe('on the wire', () => {
  let gateway: Gateway;
  beforeAll(async () => {
    gateway = await createGateway();
  });
  afterAll(() => gateway.close());
  const laneFor = (step: ScriptStep = { text: 'ok' }): Promise<Lane> =>
    gateway.open({ owner: 'a', mode: { kind: 'script', script: { name: 's', play: () => step } } });
  const ask = { contents: [{ role: 'user', parts: [{ text: 'go' }] }] };

  test('the path names the model, in every version of the API', async () => {
    await using lane = await laneFor();
    for (const prefix of ['/v1beta', '/v1', '', '/v1beta/publishers/google']) {
      const answer = await postJson(lane, `${prefix}/models/gemini-x:generateContent`, ask);
      expect(answer.body).toMatchObject({
        candidates: [{ content: { role: 'model', parts: [{ text: 'ok' }] }, finishReason: 'STOP' }],
        modelVersion: 'gemini-x',
      });
    }
    expect(
      lane.ledger.every((line) => line.wire === 'gemini-generate-content' && line.model_asked === 'gemini-x'),
    ).toBe(true);
  });

  test('a stream without alt=sse is a JSON list', async () => {
    await using lane = await laneFor();
    const answer = await postJson(lane, '/v1beta/models/m:streamGenerateContent', ask);
    expect(answer.body).toMatchObject([{ candidates: [{ finishReason: 'STOP' }] }]);
  });

  test('the key may be in the query, and the ledger does not keep it', async () => {
    await using lane = await laneFor();
    const init = { method: 'POST', key: null, body: JSON.stringify(ask) };
    expect((await call(lane, `/v1beta/models/m:generateContent?key=${lane.key}`, init)).status).toBe(200);
    const refused = await call(lane, '/v1beta/models/m:generateContent?key=x', init);
    expect([refused.status, refused.body]).toEqual([
      401,
      {
        error: { code: 401, message: expect.stringContaining("not this lane's"), status: 'UNAUTHENTICATED' },
      },
    ]);
    expect(JSON.stringify(lane.ledger)).not.toContain(lane.key);
  });

  test('tokens are counted for contents and for a whole request', async () => {
    await using lane = await laneFor();
    const bare = await postJson(lane, '/v1beta/models/m:countTokens', ask);
    expect(bare.body).toEqual({ totalTokens: expect.any(Number) });
    const wrapped = { generateContentRequest: { model: 'models/m', ...ask } };
    expect((await postJson(lane, '/v1beta/models/m:countTokens', wrapped)).body).toEqual(bare.body);
    expect(lane.ledger[0]).toMatchObject({ flags: ['auxiliary'], usage: null });
  });

  test('models are listed', async () => {
    await using lane = await laneFor();
    expect((await call(lane, '/v1beta/models')).body).toMatchObject({ models: [{ name: 'models/s' }] });
  });

  test("Gemini CLI's request to choose a model gets an answer that fits its schema, and plays no step", async () => {
    await using lane = await laneFor({ text: 'a step' });
    const responseJsonSchema = {
      type: 'object',
      properties: {
        complexity_reasoning: { type: 'string' },
        complexity_score: { type: 'integer', minimum: 1, maximum: 100 },
      },
      required: ['complexity_reasoning', 'complexity_score'],
    };
    const answer = await call(lane, '/v1beta/models/gemini-flash:generateContent', {
      method: 'POST',
      headers: { 'user-agent': 'GeminiCLI/0.61.0/gemini-2.5-pro (linux; x64)' },
      body: JSON.stringify({ ...ask, generationConfig: { responseJsonSchema } }),
    });
    expect(answer.body).toMatchObject({
      candidates: [{ content: { parts: [{ text: '{"complexity_reasoning":"-","complexity_score":1}' }] } }],
    });
    expect(lane.ledger).toMatchObject([{ step: null, flags: ['side-request'] }]);
  });
});
