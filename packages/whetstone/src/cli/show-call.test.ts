import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

const SECRET = 'a-key-of-the-team';

/** Asks its model once, and tells it the key that it was given. */
const ASKS = `
import { defineSandboxAgent } from ${JSON.stringify(import.meta.resolve('@whetstone/agents'))};
export default defineSandboxAgent({
  name: 'asks',
  async send({ text }, { lane }) {
    await fetch(lane.baseUrl + '/v1/messages', {
      method: 'POST',
      headers: { 'x-api-key': lane.key, 'content-type': 'application/json' },
      body: JSON.stringify({
        model: 'm',
        stream: true,
        system: 'You are brief.',
        tools: [{ name: 'bash', input_schema: { type: 'object' } }],
        messages: [{ role: 'user', content: text + ' with ' + process.env.TEAM_KEY }],
      }),
    }).then((response) => response.text());
    return { events: [], status: 'completed' };
  },
});
`;

test('show --call prints what a model call asked and what was answered, without secrets', async () => {
  using project = makeProject({
    tasks: [{ id: 'one', prompt: 'Fix it' }],
    config: {
      agents: { asks: { kind: 'custom', module: 'asks.ts', env: { TEAM_KEY: `\${TEAM_KEY}` } } },
      gateway: { mode: 'script', script: 'model.yaml' },
    },
  });
  const script = `name: m\nrules: [{ steps: [{ text: The key of the team is ${SECRET} as I see it. }] }]\n`;
  project.write({ 'asks.ts': ASKS, 'model.yaml': script });
  const environment = { TEAM_KEY: SECRET };
  const { stderr } = await project.whetstone(['run'], environment);
  expect(project.runDirectories().length, stderr).toBe(1);
  expect(project.latest().manifest.gateway).toMatchObject({ exchanges: true });

  const { stdout } = await project.whetstone(['show', 'latest', 'one', '--call', '1']);
  expect(stdout).toMatch(
    /^Model call 1 of 1: m\n200 ok · 115 in, 14 out · .*s\n\nSystem prompt\n\nYou are brief\.\n\nTools \(1\)\nbash\n\nMessages \(1\)\n\nuser\nFix it\n[\s\S]*\n with \[masked\]\n\nReply\n\nassistant\nThe key of the team is \[masked\] as I see it\.\n$/,
  );
  const json = await project.whetstone(['show', 'latest', 'one', '--call', '1', '--json']);
  const { call, exchange, readable } = JSON.parse(json.stdout);
  expect(exchange).toMatchObject({ id: call.id, wire: 'anthropic-messages', is_stream: true });
  expect(JSON.parse(exchange.request)).toMatchObject({ system: 'You are brief.' });
  expect(readable.reply[0].parts[0].text).toBe('The key of the team is [masked] as I see it.');
  expect(json.stdout).not.toContain(SECRET);

  const missing = await project.whetstone(['show', 'latest', 'one', '--call', '2']);
  expect(missing).toMatchObject({ exitCode: 2, stderr: expect.stringContaining('Its calls are 1 to 1.') });

  project.writeConfig({
    agents: { asks: { kind: 'custom', module: 'asks.ts', env: { TEAM_KEY: `\${TEAM_KEY}` } } },
    gateway: { mode: 'script', script: 'model.yaml', keep_exchanges: false },
  });
  await project.whetstone(['run'], environment);
  const { directory, manifest, rows } = project.latest();
  expect(manifest.gateway).toMatchObject({ exchanges: false });
  expect(existsSync(join(directory, 'cases', rows[0]?.case_id ?? '', 'model-exchanges.jsonl.zst'))).toBe(
    false,
  );
  const without = await project.whetstone(['show', 'latest', 'one', '--call', '1']);
  expect(without.stdout).toContain('Its request and reply were not kept.');
});
