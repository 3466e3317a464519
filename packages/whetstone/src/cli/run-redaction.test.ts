import { mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { exploitStatus } from '@whetstone/agents';
import { parseStreamEvent } from '@whetstone/events';
import { toGenAiSpans } from '@whetstone/events/open-telemetry';
import { expect, test } from 'vitest';
import { makeProject, readLines } from './__fixtures__/project.ts';

const SECRET = 'Pa55/w@rd+"of=the team';

/** An agent that leaks its key everywhere it can, in every form. */
const LEAKY = `
import { defineSandboxAgent } from 'whetstone/adapter';
export default defineSandboxAgent({
  name: 'leaky',
  async send(input, ctx) {
    ctx.session.id = 'the-session';
    const { stdout } = await ctx.sandbox.runShell('printf %s "$TEAM_KEY"; printf "%s" "$TEAM_KEY" | base64; printf "%s" "$TEAM_KEY" | od -An -tx1 | tr -d " \\\\n"');
    const key = process.env.TEAM_KEY;
    const forms = [key, Buffer.from(key).toString('base64'), Buffer.from('x' + key).toString('base64url'), Buffer.from(key).toString('hex'), encodeURIComponent(key), JSON.stringify(key)];
    const events = forms.flatMap((form, index) => [
      { type: 'message', role: 'assistant', text: 'It is ' + form },
      { type: 'thinking', text: form },
      { type: 'action.called', callId: 'c' + index, name: 'bash', input: { command: 'echo ' + form } },
      { type: 'approval.decided', callId: 'c' + index, decision: 'denied', rule: 'deny ' + form },
      { type: 'action.result', callId: 'c' + index, status: 'rejected', output: { output: stdout + form, exitCode: 1 } },
      { type: 'action.called', callId: 'm' + index, name: 'mcp__server__' + index, input: { arguments: { nested: [form] } } },
      { type: 'action.result', callId: 'm' + index, status: 'completed', output: [form] },
      { type: 'error', message: form },
    ]);
    return { events, status: 'completed', facts: { approvalPolicy: key }, exit: { ended: 'exit', message: key } };
  },
});
`;

test('no file of a run has a secret in any form: prompts, arguments, outputs, metadata, traces', async () => {
  const project = makeProject({
    tasks: [{ id: 'leak', prompt: `Use ${SECRET} to sign in.` }],
    config: { agents: { leaky: { kind: 'custom', module: 'leaky.ts', env: { TEAM_KEY: `\${TEAM_KEY}` } } } },
  });
  project.write({ 'leaky.ts': LEAKY });
  const installed = join(project.root, 'node_modules/whetstone');
  mkdirSync(dirname(installed), { recursive: true });
  symlinkSync(join(import.meta.dirname, '../..'), installed);
  const { stdout, stderr } = await project.whetstone(['run'], { TEAM_KEY: SECRET });
  const [run = ''] = project.runDirectories();
  const events = readLines(findFile(run, 'events.jsonl')).flatMap((line) => parseStreamEvent(line) ?? []);
  expect(events.length, stderr).toBeGreaterThan(40);
  const spans = JSON.stringify(toGenAiSpans(events, { agentName: 'leaky', captureContent: true }));
  const texts = { stdout, stderr, spans, ...filesBelow(run) };
  const bytes = Buffer.from(SECRET);
  const forms = [
    SECRET,
    JSON.stringify(SECRET).slice(1, -1),
    encodeURIComponent(SECRET),
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -4),
    Buffer.from(`x${SECRET}`).toString('base64url').slice(4, -4),
  ];
  const leaks = Object.entries(texts).flatMap(([file, text]) =>
    forms.filter((form) => text.includes(form)).map((form) => `${file}: ${form}`),
  );
  expect(leaks).toEqual([]);
  expect(exploitStatus({ events, marker: '[masked]', hasEffect: leaks.length > 0 })).toBe('refused');
});

function filesBelow(folder: string): Record<string, string> {
  const paths = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const files = paths.filter((path) => statSync(join(folder, path)).isFile());
  return Object.fromEntries(files.map((path) => [path, readFileSync(join(folder, path), 'latin1')]));
}

function findFile(folder: string, name: string): string {
  const [path = ''] = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith(name),
  );
  return join(folder, path);
}
