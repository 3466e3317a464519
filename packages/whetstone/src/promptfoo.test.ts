import { readdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, test, vi } from 'vitest';
import { makeEvals, removeEvals } from './cli/__fixtures__/eval-project.ts';
import { WhetstoneProvider } from './promptfoo.ts';

afterAll(removeEvals);

const AGENT = `
export default {
  name: 'writer',
  capabilities: { workspace: true },
  async send({ text }, { sandbox, session }) {
    if (text === 'fail') return { events: [{ type: 'error', message: 'no paper' }], status: 'failed' };
    if (text === 'throw') throw new Error('no pen');
    const before = await sandbox.readFile('start.txt');
    await sandbox.writeFiles({ 'start.txt': 'changed' });
    const key = (await sandbox.runCommand('sh', ['-c', 'echo $TEAM_KEY'])).stdout.trim();
    session.id = 'session-7';
    return {
      events: [
        { type: 'message', role: 'assistant', text: 'I will look.' },
        { type: 'action.called', callId: '1', name: 'read', input: { path: 'start.txt' } },
        { type: 'action.result', callId: '1', output: 'x'.repeat(5000), status: 'completed' },
        { type: 'message', role: 'assistant', text: 'It says ' + before + ', and the key is ' + key },
      ],
      status: 'completed',
      usage: { inputTokens: 10, outputTokens: 5, cacheReadTokens: 30 },
      costUsd: 0.25,
    };
  },
};
`;

const left = () => readdirSync(tmpdir()).filter((name) => name.startsWith('whetstone-promptfoo-'));

test('an agent is a provider of promptfoo: result, copy of the folder, secrets, failures', async () => {
  const { root } = makeEvals({ 'agent.mjs': AGENT, 'folder/start.txt': 'hello' });
  vi.stubEnv('TEAM_KEY', 'very-secret-key');
  const provider = new WhetstoneProvider({
    id: 'writer',
    label: 'Writer',
    config: {
      // biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of the configuration
      agent: { kind: 'custom', module: join(root, 'agent.mjs'), env: { TEAM_KEY: '${TEAM_KEY}' } },
      folder: join(root, 'folder'),
    },
  });
  const before = left();
  const results = [];
  for (const prompt of ['Look.', 'Look again.']) results.push(await provider.callApi(prompt));
  expect(left()).toEqual(before);
  expect([provider.id(), provider.label]).toEqual(['writer', 'Writer']);
  // Each call has a copy of the folder.
  expect(results.map(({ output }) => output)).toEqual(
    Array(2).fill('It says hello, and the key is [masked]'),
  );
  const [result] = results;
  expect(result).toMatchObject({
    sessionId: 'session-7',
    tokenUsage: { total: 45, prompt: 40, completion: 5, cached: 30 },
    cost: 0.25,
    metadata: {
      status: 'completed',
      agent: {
        tools: [{ name: 'read', status: 'completed' }],
        ...{ sessionId: 'session-7', network: 'open', sandbox: 'process' },
        fileChanges: [{ path: 'start.txt', change: 'modified' }],
      },
    },
  });
  expect(result).not.toHaveProperty('error');
  const raw = JSON.parse(result?.raw ?? '');
  expect(raw.events.map(({ type }: { type: string }) => type)).toContain('action.result');
  expect(result?.raw).toContain('… (3000 more characters)');
  expect(result?.raw).not.toContain('very-secret-key');

  expect(await provider.callApi('fail')).toMatchObject({ error: 'no paper', metadata: { status: 'failed' } });
  expect(await provider.callApi('fail')).not.toHaveProperty('tokenUsage');
  expect(await provider.callApi('throw')).toEqual({ error: expect.stringContaining('no pen') });
  const wrong = new WhetstoneProvider({ config: { agent: { kind: 'codex-clii', modell: 'x' } } });
  expect((await wrong.callApi('Look.')).error).toMatch(
    /agent\.modell: unknown key.*did you mean model\?.*agent\.kind: unknown value "codex-clii"\ndid you mean codex-cli\?/s,
  );
});
