import { readFileSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { toAgentConfig } from '../agent-options.ts';
import type { NativeMapper } from '../kit/native-mapper.ts';
import { connection } from './__fixtures__/connection.ts';
import { readNative } from './__fixtures__/read-native.ts';
import { drivenAgentKinds, drivenAgents, kindAliases } from './native-agents.ts';
import { parseNative } from './parse-native.ts';

describe.each(drivenAgentKinds)('%s', (kind) => {
  const { launch } = drivenAgents[kind];
  const { baseUrl } = connection.access;

  test('talks only to the gateway and keeps its files in its home', () => {
    const { env, files } = launch.settings(connection);
    const texts = [...Object.values(env), ...Object.values(files)];
    expect(texts.some((text) => text.includes(connection.access.key))).toBe(true);
    const urls = texts.flatMap((text) => text.match(/https?:\/\/[^\s"]+/g) ?? []);
    expect(urls.length).toBeGreaterThan(0);
    for (const url of urls) expect([baseUrl, `${baseUrl}/v1`]).toContain(url);
    for (const path of Object.values(env).filter(isAbsolute)) {
      expect(path === connection.home || path.startsWith(`${connection.home}/`)).toBe(true);
    }
    for (const path of Object.keys(files)) expect(path).toMatch(/^\.[\w-]+\//);
  });
});

test.each(Object.values(drivenAgents).filter(({ launch }) => !launch.dialogue))(
  '$kind gets the model and the session to resume as arguments',
  ({ launch }) => {
    const turn = {
      access: 'key',
      model: 'model-1',
      workingDirectory: '/w',
      permissions: connection.permissions,
    } as const;
    const resumed = launch.turn({ ...turn, resume: 'session-1' });
    expect(launch.turn(turn)).not.toContain('session-1');
    expect(resumed).toContain('session-1');
    expect(resumed.join(' ')).toContain('model-1');
  },
);

describe.each([
  ['codex-cli', 'codex-0.169.0', ['main', 'main-resumed'], { inputTokens: 19_566 }, undefined],
  // If another process began the session, only the agent's own calls count, not sub-agents and side requests.
  [
    'qwen-code',
    'qwen-code-0.24.4',
    ['task', 'second-turn'],
    { inputTokens: 33_596 },
    { inputTokens: 21_119 },
  ],
] as const)('%s reports the usage of the whole session', (kind, folder, [first, second], usage, ownAlone) => {
  const turn = (name: string, before: NativeMapper | 'new' | 'unread') => {
    const mapper = drivenAgents[kind].stream.open({}, before);
    const file = join(import.meta.dirname, kind, '__fixtures__', folder, `${name}.stream.jsonl`);
    return { mapper, usage: readNative(mapper, readFileSync(file)).summary.usage };
  };
  const expected = (of: object | undefined) => (of ? expect.objectContaining(of) : undefined);

  test('a turn has its own usage', () => {
    expect(turn(second, turn(first, 'new').mapper).usage).toEqual(expected(usage));
  });

  test('a turn has no complete usage if the turn before was not read to its end', () => {
    expect(turn(second, 'unread').usage).toEqual(expected(ownAlone));
    expect(turn(second, turn('hang', 'new').mapper).usage).toEqual(expected(ownAlone));
  });
});

test('an adapter of the harness is a module under its own name, too', () => {
  const module = 'agents/mine.ts';
  expect(toAgentConfig({ kind: 'ai-sdk-harness', module })).toEqual(
    toAgentConfig({ kind: 'custom', module }),
  );
});

test.each(Object.entries(kindAliases).filter(([, kind]) => kind !== 'custom'))(
  '%s means %s in code and to the parser',
  async (alias, kind) => {
    const options = { model: 'model-1' };
    expect(toAgentConfig({ kind: alias as 'opencode', ...options })).toEqual(
      toAgentConfig({ kind: kind as 'opencode-sdk', ...options }),
    );
    async function* nothing() {}
    expect(await parseNative(alias, nothing(), { emit: () => {} })).toMatchObject({ kind });
  },
);

test.each([
  [{ kind: 'codex-cly' }, 'There is no agent "codex-cly".', /^did you mean codex-cli\?/],
  [{ kind: 'bub' }, 'Whetstone does not start an agent "bub" by itself.', /^Set `command`/],
  [{ kind: 'loop' }, 'The loop has no profile undefined.', /^Set `profile` to one of: openai, /],
])('options without types that name no agent are an error: %j', (options, message, hint) => {
  expect(() => toAgentConfig(options as never)).toThrow(
    expect.objectContaining({ message, hint: expect.stringMatching(hint) }),
  );
});
