import { expect, test } from 'vitest';
import type { PolicyRequest } from '../../policy/policy.ts';
import { answerPermission, policyRequest } from './permission.ts';

const once = { optionId: 'yes', name: 'Allow', kind: 'allow_once' } as const;
const always = { optionId: 'for ever', name: 'Always allow', kind: 'allow_always' } as const;
const reject = { optionId: 'no', name: 'Reject', kind: 'reject_once' } as const;
type Option = typeof once | typeof always | typeof reject;

async function outcomeOf(options: Option[], decision: 'approved' | 'denied', signal?: AbortSignal) {
  const asked: PolicyRequest[] = [];
  const answer = await answerPermission(
    { sessionId: 's', toolCall: { toolCallId: 'call-1', kind: 'execute', title: 'ls' }, options },
    {
      ...{ input: { text: '' }, workingDirectory: '/w', mcpServers: [] },
      signal: signal ?? new AbortController().signal,
      decide: async (request) => {
        asked.push(request);
        return { decision, rule: 'a test' };
      },
    },
  );
  return { asked, outcome: answer.outcome };
}

test('a permission is given for one call only, even if the agent offers more first', async () => {
  const { asked, outcome } = await outcomeOf([always, once, reject], 'approved');
  expect(asked).toEqual([{ callId: 'call-1', kind: 'command', command: 'ls' }]);
  expect(outcome).toEqual({ outcome: 'selected', optionId: 'yes' });
  expect((await outcomeOf([always, reject], 'approved')).outcome).toEqual({ outcome: 'cancelled' });
});

test('a refusal is selected; without such an option, and after an abort, the question is cancelled', async () => {
  expect((await outcomeOf([always, once, reject], 'denied')).outcome).toEqual({
    outcome: 'selected',
    optionId: 'no',
  });
  expect((await outcomeOf([once], 'denied')).outcome).toEqual({ outcome: 'cancelled' });
  expect((await outcomeOf([once], 'approved', AbortSignal.abort())).outcome).toEqual({
    outcome: 'cancelled',
  });
});

const call = { toolCallId: 'c', title: 'A title', status: 'pending' };

test.each([
  [
    'a command with its folder',
    { ...call, kind: 'execute', rawInput: { command: 'rm a', cwd: '/w' } },
    { kind: 'command', command: 'rm a', cwd: '/w' },
  ],
  [
    'a command that only the title names',
    { ...call, kind: 'execute', title: 'sh greet.sh' },
    { kind: 'command', command: 'sh greet.sh' },
  ],
  [
    'a change of files',
    {
      ...call,
      kind: 'edit',
      locations: [{ path: '/w/a' }],
      content: [{ type: 'diff', path: '/w/b', newText: '' }],
    },
    { kind: 'file-change', paths: ['/w/a', '/w/b'] },
  ],
  [
    'a change that names no file',
    { ...call, kind: 'edit' },
    { kind: 'tool', name: 'edit', input: {}, reason: 'A title' },
  ],
  [
    'a file to read',
    { ...call, kind: 'read', locations: [{ path: '/etc/hostname' }], rawInput: { path: '/etc/hostname' } },
    {
      kind: 'tool',
      name: 'read',
      input: { path: '/etc/hostname' },
      reason: 'A title',
      paths: ['/etc/hostname'],
    },
  ],
  [
    'an address',
    { ...call, kind: 'fetch', rawInput: { url: 'https://example.com:8443/a' } },
    {
      ...{ kind: 'tool', name: 'fetch', input: { url: 'https://example.com:8443/a' } },
      ...{ reason: 'A title', host: 'example.com' },
    },
  ],
  [
    'a tool of an MCP server, whatever its kind',
    { ...call, kind: 'execute', _meta: { toolName: 'mcp__weather__forecast' } },
    { kind: 'tool', name: 'mcp__weather__forecast', input: {}, reason: 'A title' },
  ],
  ['another mode', { ...call, kind: 'switch_mode' }, { kind: 'config', what: 'A title' }],
])('the policy is asked about %s', (_, toolCall, request) => {
  expect(policyRequest(toolCall)).toEqual({ callId: 'c', ...request });
});

test('a command outside the sandbox of an agent is a grant', async () => {
  const asked: PolicyRequest[] = [];
  await answerPermission(
    {
      sessionId: 's',
      toolCall: { toolCallId: 'c', kind: 'execute', title: 'curl' },
      options: [once, reject],
    },
    {
      ...{ input: { text: '' }, workingDirectory: '/w', mcpServers: [] },
      signal: new AbortController().signal,
      decide: async (request) => {
        asked.push(request);
        return { decision: 'denied', rule: 'a test' };
      },
    },
    { asksToLeaveSandbox: true },
  );
  expect(asked).toEqual([{ callId: 'c', kind: 'grant', what: 'run outside the sandbox: curl' }]);
});

test('the first title of a call names a tool of an MCP server', () => {
  const asked = { toolCallId: 'c', kind: 'other', title: 'lookup', rawInput: { word: 'tea' } };
  expect(policyRequest(asked, ['glossary'], 'glossary-lookup')).toMatchObject({
    name: 'mcp__glossary__lookup',
  });
});
