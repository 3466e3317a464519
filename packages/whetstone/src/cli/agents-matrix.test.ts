import { PassThrough } from 'node:stream';
import { text } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { matrixCommand } from './agents-matrix.ts';
import type { Streams } from './streams.ts';

async function matrix(kinds: string[], options: { json?: boolean } = {}, columns = 200): Promise<string> {
  const stdout = Object.assign(new PassThrough(), { columns });
  expect(await matrixCommand(kinds, options, { stdout: stdout as unknown as Streams['stdout'] })).toBe(0);
  stdout.end();
  return await text(stdout);
}

test('agents matrix has every kind, and only the kinds that are named', async () => {
  const all: { agent: string }[] = JSON.parse(await matrix([], { json: true }));
  expect(all.map(({ agent }) => agent)).toEqual(expect.arrayContaining(['codex-cli', 'loop', 'http']));
  const named = await matrix(['codex-cli', 'loop']);
  expect(named).toMatch(/^codex-cli\n(?:.*\n)*\nloop\n/);
  expect(named).toContain('  login instead of a key: ~/.codex/auth.json\n');
  expect(named).not.toContain('gemini');
});

test('a kind is found by its other names, and a protocol with each agent that it drives', async () => {
  expect(await matrix(['openai:codex'])).toMatch(/^codex-sdk\n/);
  expect(await matrix(['ai-sdk-harness'])).toMatch(/^ai-sdk-harness\n/);
  const overAcp = await matrix(['acp']);
  expect(overAcp.match(/^\S.*/gm)).toEqual(expect.arrayContaining(['acp', 'acp:gemini-cli', 'acp:copilot']));
  expect((await matrix(['acp:copilot'])).match(/^\S.*/gm)).toEqual(['acp:copilot']);
});

test.each([40, 80])('agents matrix fits %i columns', async (columns) => {
  const lines = (await matrix([], {}, columns)).split('\n');
  expect(lines.filter((line) => line.length > columns)).toEqual([]);
});

test('a mistyped kind comes with the kind that was meant', async () => {
  await expect(matrix(['codex-cil'])).rejects.toMatchObject({
    code: 'agent-kind-unknown',
    hint: expect.stringContaining('did you mean codex-cli?'),
  });
});
