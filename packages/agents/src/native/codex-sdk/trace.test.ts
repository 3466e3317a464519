import { expect, test } from 'vitest';
import { openPermissions } from '../../policy/permissions.ts';
import { traceOf } from '../codex-cli/trace.ts';
import { codexSdk } from './codex-sdk.ts';
import { options } from './options.ts';

const trace = { endpoint: 'http://localhost:4318/v1/traces' };
const settingsWith = (given: object) =>
  codexSdk.launch.settings({
    ...{ access: { kind: 'key', baseUrl: 'http://127.0.0.1:9', key: 'k' }, home: '/home' },
    ...{ workingDirectory: '/w', permissions: openPermissions, options: { ...given } },
  });

test('a trace is asked for, and each turn is one of its own', () => {
  expect(settingsWith({}).env).not.toHaveProperty('TRACEPARENT');
  const [one, two] = [traceOf(settingsWith({ trace }).env), traceOf(settingsWith({ trace }).env)];
  expect(one).toEqual({ traceId: expect.stringMatching(/^[0-9a-f]{32}$/), spanId: expect.any(String) });
  expect(one?.traceId).not.toBe(two?.traceId);
});

test.each([
  [{ trace, reuse_process: true }, 'reuse_process'],
  [{ trace: { endpoint: 'localhost' } }, 'trace'],
  [{ trace: { endpoint: trace.endpoint, prompts: true } }, 'trace'],
])('%j is refused', (given, path) => {
  expect(options.safeParse(given).error?.issues[0]?.path[0]).toBe(path);
});
