import { describe, expect, test } from 'vitest';
import { readUpstreams } from './mode-flags.ts';

const nothing = { upstream: [], keyEnv: [] };

describe('the providers that calls go to', () => {
  test('are those whose key is set, when none is named', () => {
    expect(
      readUpstreams(nothing, { ANTHROPIC_API_KEY: 'x', GOOGLE_API_KEY: 'y', OPENAI_API_KEY: '' }),
    ).toEqual({
      'anthropic-messages': { key: { env: 'ANTHROPIC_API_KEY' } },
      'gemini-generate-content': { key: { env: 'GOOGLE_API_KEY' } },
    });
  });

  test('are only the named ones, with their base URL and the variable of their key', () => {
    const flags = {
      upstream: ['openai=http://localhost:8000/v1?a=b', 'anthropic'],
      keyEnv: ['openai=MY_KEY'],
    };
    const openai = { baseUrl: 'http://localhost:8000/v1?a=b', key: { env: 'MY_KEY' } };
    expect(readUpstreams(flags, { GEMINI_API_KEY: 'x' })).toEqual({
      'openai-responses': openai,
      'openai-chat-completions': openai,
      'anthropic-messages': { key: { env: 'ANTHROPIC_API_KEY' } },
    });
  });

  test('naming a key names its provider', () => {
    expect(
      Object.keys(readUpstreams({ upstream: [], keyEnv: ['google=K'] }, { OPENAI_API_KEY: 'x' })),
    ).toEqual(['gemini-generate-content']);
  });

  test.each([
    [nothing, 'upstream-missing', 'OPENAI_API_KEY, ANTHROPIC_API_KEY, GEMINI_API_KEY'],
    [{ upstream: ['opnai'], keyEnv: [] }, 'upstream-invalid', 'did you mean openai?'],
    [{ upstream: [], keyEnv: ['openai'] }, 'upstream-invalid', '--key-env openai=MY_KEY'],
    [{ upstream: ['toString'], keyEnv: [] }, 'upstream-invalid', 'providers: openai, anthropic, google'],
  ])('%j is refused: %s', (flags, code, hint) => {
    expect(() => readUpstreams(flags, {})).toThrow(
      expect.objectContaining({ code, hint: expect.stringContaining(hint), exitCode: 2 }),
    );
  });
});
