import { readFile, writeFile } from 'node:fs/promises';
import { present } from '@whetstone/events/present';
import { expect, test } from 'vitest';
import { startModelServer } from '../__fixtures__/model-server.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { Session } from '../session/session.ts';
import { createModel } from './create-model.ts';

type Part = Record<string, unknown>;

function generated(parts: Part[], finishReason = 'STOP') {
  const usageMetadata = {
    promptTokenCount: 100,
    candidatesTokenCount: 20,
    thoughtsTokenCount: 5,
    cachedContentTokenCount: 40,
    totalTokenCount: 125,
  };
  return { candidates: [{ content: { role: 'model', parts }, finishReason, index: 0 }], usageMetadata };
}

const call = (name: string, args: Part, signature?: string): Part => ({
  functionCall: { name, args },
  ...present({ thoughtSignature: signature }),
});

async function geminiModel(baseUrl: string, model: string) {
  return await createModel({
    provider: 'google',
    model,
    baseUrl: baseUrl.replace('/v1', '/v1beta'),
    apiKey: 'k',
  });
}

test('a coding task over the Gemini wire: signatures go back, results are the family’s own', async () => {
  await using place = await temporaryEnvironment();
  await writeFile(place.path('a.txt'), 'one\n');
  await writeFile(place.path('GEMINI.md'), 'Speak softly.');
  const edit = { file_path: 'a.txt', old_string: 'one', new_string: 'two' };
  await using server = await startModelServer([
    {
      events: [
        generated([
          { text: 'An edit, then a look.', thought: true },
          call('edit_file', edit, 'sig-1'),
          call('shell', { command: 'cat a.txt' }),
          call('read_file', { file_path: 'absent' }),
        ]),
      ],
    },
    { events: [generated([{ text: 'Done.' }, { text: '', thoughtSignature: 'sig-2' }])] },
    { events: [generated([{ text: 'Nothing more.' }])] },
  ]);
  const model = await geminiModel(server.baseUrl, 'gemini-3-pro-preview');
  const profile = createGeminiProfile({
    model: 'gemini-3-pro-preview',
    providerOptions: { safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }] },
  });
  await using session = new Session({
    profile,
    environment: place.environment,
    model,
    config: { reasoningEffort: 'low' },
  });
  const result = await session.submit('Change one to two.');
  expect(result).toMatchObject({ reason: 'completed', text: 'Done.', toolRounds: 1 });
  expect(result.usage).toMatchObject({ inputTokens: 120, cacheReadTokens: 80 });
  expect(await readFile(place.path('a.txt'), 'utf8')).toBe('two\n');

  const [first, second] = server.requests;
  expect(first?.path).toMatch(/^\/v1beta\/models\/gemini-3-pro-preview:streamGenerateContent/);
  expect(first?.headers).toMatchObject({ 'x-goog-api-key': 'k', 'x-whetstone-agent': 'loop' });
  expect(JSON.stringify(first?.body.systemInstruction)).toContain('Speak softly.');
  expect(first?.body).toMatchObject({
    generationConfig: { thinkingConfig: { thinkingLevel: 'low', includeThoughts: true } },
    safetySettings: [{ category: 'HARM_CATEGORY_HARASSMENT', threshold: 'BLOCK_NONE' }],
  });
  const tools = JSON.stringify(first?.body.tools);
  for (const name of ['read_file', 'read_many_files', 'write_file', 'edit_file', 'shell', 'list_dir'])
    expect(tools).toContain(`"name":"${name}"`);

  const contents = second?.body.contents as { role: string; parts: Part[] }[];
  const [assistant, results] = contents.slice(-2);
  expect(assistant?.parts.find((part) => part.functionCall)).toMatchObject({
    functionCall: { name: 'edit_file', args: edit },
    thoughtSignature: 'sig-1',
  });
  const responses = results?.parts.map((part) => part.functionResponse as Part);
  expect(responses).toMatchObject([
    { name: 'edit_file', response: { output: 'Replaced 1 occurrence in a.txt.' } },
    { name: 'shell', response: { output: expect.stringMatching(/Output:\ntwo$/) } },
    { name: 'read_file', response: { error: expect.stringMatching(/File not found/) } },
  ]);
  expect(responses?.[0]?.response).toEqual({ output: 'Replaced 1 occurrence in a.txt.' });

  // An empty text may carry a signature; it belongs to what came before and has to be there in the next request.
  await session.submit('And?');
  const third = server.requests[2]?.body.contents as { role: string; parts: Part[] }[];
  expect(third.at(-2)?.parts).toEqual([{ text: 'Done.', thoughtSignature: 'sig-2' }]);
});

test.each(['MALFORMED_FUNCTION_CALL', 'MALFORMED_RESPONSE', 'UNEXPECTED_TOOL_CALL'])(
  'a call that Gemini garbled (%s) is tried again, a blocked answer is a refusal',
  async (garbled) => {
    await using place = await temporaryEnvironment();
    await using server = await startModelServer([
      { events: [generated([{ text: 'I will' }], garbled)] },
      { events: [generated([{ text: 'ok' }])] },
      { events: [generated([{ text: 'no' }], 'SAFETY')] },
    ]);
    const model = await geminiModel(server.baseUrl, 'gemini-2.5-pro');
    await using session = new Session({
      profile: createGeminiProfile({ model: 'gemini-2.5-pro' }),
      environment: place.environment,
      model,
      clock: { now: Date.now, random: () => 0.5, sleep: async () => {} },
    });
    expect(await session.submit('one')).toMatchObject({ reason: 'completed', text: 'ok' });
    expect(await session.submit('two')).toMatchObject({ reason: 'refused' });
  },
);
