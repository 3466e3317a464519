import { writeFile } from 'node:fs/promises';
import type { JsonObject } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { says, scriptedModel } from '../__fixtures__/scripted-model.ts';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { Session } from '../session/session.ts';
import { defineTool } from '../tools/tool.ts';
import { createAnthropicProfile } from './anthropic-profile.ts';
import { createGeminiProfile } from './gemini-profile.ts';
import { loadProfile } from './load-profile.ts';
import { createOpenAiProfile } from './openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from './provider-profile.ts';

const families: Record<string, { create: (options: ProfileOptions) => ProviderProfile; spec: string[] }> = {
  openai: {
    create: createOpenAiProfile,
    spec: ['read_file', 'apply_patch', 'write_file', 'shell', 'grep', 'glob'],
  },
  anthropic: {
    create: createAnthropicProfile,
    spec: ['read_file', 'write_file', 'edit_file', 'shell', 'grep', 'glob'],
  },
  gemini: {
    create: createGeminiProfile,
    spec: ['read_file', 'read_many_files', 'write_file', 'edit_file', 'shell', 'grep', 'glob', 'list_dir'],
  },
};

describe.each(Object.entries(families))('%s', (_id, { create, spec }) => {
  test('has the tools of the specification by default', () => {
    expect(create({ model: 'm' }).toolRegistry.names()).toEqual(spec);
  });

  test.each(['spec', 'native'] as const)(
    '%s: the prompt names only tools that are there',
    async (toolSet) => {
      await using place = await temporaryEnvironment();
      const profile = create({ model: 'm', toolSet });
      const parts = { environment: place.environment, projectDocuments: [], userInstructions: undefined };
      const prompt = profile.buildSystemPrompt(parts);
      const known = new Set(profile.toolRegistry.names());
      const all = Object.values(families).flatMap((family) =>
        (['spec', 'native'] as const).flatMap((set) =>
          family.create({ model: 'm', toolSet: set }).toolRegistry.names(),
        ),
      );
      // Names that are plain words of English say nothing.
      for (const name of all.filter((candidate) => candidate.includes('_'))) {
        if (!known.has(name)) expect(prompt).not.toMatch(new RegExp(`\\b${name}\\b`));
      }
      for (const topic of ['You are a coding agent', '# Editing', '# How to work', '# Your answer'])
        expect(prompt).toContain(topic);
    },
  );

  test('the request options of the host win', () => {
    const profile = create({ model: 'm', providerOptions: { custom: 1, store: true } });
    const options = profile.providerOptions({ sessionId: 's', reasoningEffort: undefined });
    expect(Object.values(options)).toMatchObject([{ custom: 1, store: true }]);
  });

  test('a tool of the host replaces the one of the same name', () => {
    const profile = create({ model: 'm' });
    const definition = { name: 'grep', description: 'mine', parameters: { type: 'object' } };
    profile.toolRegistry.register(defineTool({ definition, executor: () => 'x' }));
    expect(profile.tools().find(({ name }) => name === 'grep')?.description).toBe('mine');
    expect(profile.toolRegistry.names()).toEqual(spec);
  });
});

test('beta features of Anthropic and the web tools of Gemini are offered when asked for', () => {
  const anthropic = createAnthropicProfile({ model: 'm', betaHeaders: ['context-1m-2025-08-07'] });
  expect(anthropic.providerOptions({ sessionId: 's', reasoningEffort: undefined })).toEqual({
    anthropic: { anthropicBeta: ['context-1m-2025-08-07'] },
  });
  const gemini = createGeminiProfile({ model: 'gemini-3-pro', webFetch: true, webSearch: true });
  expect(gemini.toolRegistry.names().slice(-2)).toEqual(['web_fetch', 'web_search']);
  expect(gemini.tools().at(-1)).toMatchObject({ type: 'provider', id: 'google.google_search' });
  const old = createGeminiProfile({ model: 'gemini-2.0-flash' });
  expect(old.providerOptions({ sessionId: 's', reasoningEffort: undefined })).toEqual({ google: {} });
});

describe('a captured profile', () => {
  const schema = { type: 'object', properties: { file_path: { type: 'string' } }, required: ['file_path'] };
  const capture = {
    wire: 'anthropic-messages',
    model: 'claude-x',
    systemPrompt: ['You are  somebody.\n', '\tSecond block: é😀'],
    tools: [
      { name: 'Read', description: ' As captured. ', input_schema: schema },
      { name: 'Mystery', description: 'unknown', input_schema: { type: 'object' } },
      { type: 'web_search_20250305', name: 'web_search' },
    ],
  };

  test('sends the prompt and the definitions byte for byte, and says what it cannot run', async () => {
    await using place = await temporaryEnvironment();
    await writeFile(place.path('AGENTS.md'), 'Be careful.');
    const { profile, unbound } = loadProfile(capture);
    expect(unbound).toEqual(['Mystery', 'web_search']);
    const model = scriptedModel([says('hi')], 'anthropic.messages');
    await using session = new Session({
      profile,
      environment: place.environment,
      model,
      config: { maxSubagentDepth: 0 },
    });
    await session.submit('hello');
    const request = model.requests[0];
    const system = request?.prompt.filter((message) => message.role === 'system');
    expect(system?.map(({ content }) => content).slice(0, 2)).toEqual(capture.systemPrompt);
    expect(system).toHaveLength(3);
    expect(system?.[2]?.content).toContain('Be careful.');
    // One mark for the whole prompt: the wire allows four in all.
    expect(system?.filter(({ providerOptions }) => providerOptions !== undefined)).toHaveLength(1);
    expect(request?.tools).toEqual([
      { type: 'function', name: 'Read', description: ' As captured. ', inputSchema: schema },
    ]);
  });

  test('runs a captured tool with our executor, and the host’s in the first place', async () => {
    await using place = await temporaryEnvironment();
    await writeFile(place.path('a.txt'), 'one\n');
    const mystery = defineTool({
      definition: { name: 'Mystery', description: 'mine', parameters: { type: 'object' } },
      executor: () => 'solved',
    });
    const { profile, unbound } = loadProfile(capture, { tools: [mystery] });
    expect(unbound).toEqual(['web_search']);
    const context = {
      environment: place.environment,
      signal: new AbortController().signal,
      callId: 'c',
      sessionId: 's',
      onUpdate: () => {},
      limits: { defaultCommandTimeoutMs: undefined, maxCommandTimeoutMs: 1_000 },
    };
    const run = (name: string, args: JsonObject) => profile.toolRegistry.get(name)?.executor(args, context);
    expect(await run('Read', { file_path: 'a.txt' })).toBe('     1\tone');
    expect(await run('Mystery', {})).toBe('solved');
    expect(profile.toolRegistry.get('Mystery')?.definition.description).toBe('unknown');
  });

  test('knows the tools of earlier releases, and brings its own under the family’s names', async () => {
    await using place = await temporaryEnvironment();
    const tools = [{ name: 'TodoWrite', description: 'd', input_schema: { type: 'object' } }];
    const { profile, unbound } = loadProfile({ ...capture, tools });
    expect(unbound).toEqual([]);
    const model = scriptedModel([says('hi')], 'anthropic.messages');
    await using session = new Session({ profile, environment: place.environment, model, askUser: true });
    await session.submit('hello');
    const names = model.requests[0]?.tools?.map(({ name }) => name);
    expect(names).toEqual(['TodoWrite', 'Agent', 'TaskOutput', 'TaskStop', 'AskUserQuestion']);
  });

  test('reads the tools of the other wires', () => {
    const format = { type: 'grammar', syntax: 'lark', definition: 'start: "x"' };
    const codex = loadProfile({
      wire: 'openai-responses',
      model: 'gpt-x',
      systemPrompt: 'One block.',
      tools: [
        {
          type: 'function',
          name: 'exec_command',
          description: 'd',
          strict: false,
          parameters: { type: 'object' },
        },
        { type: 'custom', name: 'apply_patch', description: 'p', format },
        { type: 'web_search' },
        { type: 'tool_search', parameters: { type: 'object' } },
      ],
    });
    expect(codex.unbound).toEqual(['web_search', 'tool_search']);
    expect(codex.profile.tools()).toMatchObject([
      { name: 'exec_command', description: 'd', parameters: { type: 'object' } },
      { type: 'freeform', name: 'apply_patch', grammar: { syntax: 'lark', definition: 'start: "x"' } },
    ]);
    const parameters = { type: 'object', properties: { file_path: { type: 'string' } } };
    const chat = loadProfile({
      wire: 'openai-chat-completions',
      model: 'qwen-x',
      systemPrompt: 'One block.',
      tools: [
        { type: 'function', function: { name: 'read_file', description: 'r', parameters } },
        { type: 'function', function: { name: 'agent', description: 'a', parameters } },
      ],
    });
    expect(chat.unbound).toEqual(['agent']);
    expect(chat.profile.tools()).toEqual([{ name: 'read_file', description: 'r', parameters }]);
    const gemini = loadProfile({
      wire: 'gemini-generate-content',
      model: 'gemini-x',
      systemPrompt: 'One block.',
      tools: [
        {
          functionDeclarations: [
            { name: 'replace', description: 'r', parametersJsonSchema: { type: 'object' } },
          ],
        },
        { googleSearch: {} },
      ],
    });
    expect(gemini.unbound).toEqual(['googleSearch']);
    expect(gemini.profile.tools()).toEqual([
      { name: 'replace', description: 'r', parameters: { type: 'object' } },
    ]);
  });

  test('what is not a capture is refused, with the place of the fault', () => {
    expect(() => loadProfile({ wire: 'smoke', tools: [] })).toThrow(/wire/);
    expect(() => loadProfile({ ...capture, tools: [1] })).toThrow(/tools\[0\]/);
    expect(() => loadProfile({ ...capture, model: undefined })).toThrow(/has no model name/);
  });
});
