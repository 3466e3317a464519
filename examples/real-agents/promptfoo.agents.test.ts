// The released promptfoo runs an agent of Whetstone as its provider: by the name of the package, and from a file of the user.
import { execFile } from 'node:child_process';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { afterAll, expect, test } from 'vitest';
import { installPromptfoo } from '../../benchmarks/install-promptfoo.ts';

const REPOSITORY = join(import.meta.dirname, '../..');
const folder = mkdtempSync(join(tmpdir(), 'promptfoo-test-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const agent = { kind: 'loop', profile: 'openai', model: 'gpt-5.2' };
const CONFIG = {
  prompts: ['{{task}}'],
  providers: [
    {
      id: 'package:whetstone/promptfoo:WhetstoneProvider',
      label: 'by name',
      config: { agent, folder: './repository' },
    },
    { id: 'file://provider.mjs', label: 'by file', config: { agent, folder: './repository' } },
  ],
  tests: [
    {
      vars: { task: 'Write a note.' },
      assert: [
        { type: 'equals', value: 'Written.' },
        { type: 'javascript', value: 'context.metadata.agent.fileChanges[0].path === "note.txt"' },
        { type: 'cost', threshold: 1 },
      ],
    },
  ],
};

test('promptfoo reads the results of an agent that Whetstone drives', async () => {
  const program = installPromptfoo(() => undefined);
  mkdirSync(join(folder, 'repository'));
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(join(REPOSITORY, 'packages/whetstone'), join(folder, 'node_modules/whetstone'));
  writeFileSync(join(folder, 'repository/start.txt'), 'start\n');
  writeFileSync(join(folder, 'promptfooconfig.json'), JSON.stringify(CONFIG));
  writeFileSync(
    join(folder, 'provider.mjs'),
    "export { WhetstoneProvider as default } from 'whetstone/promptfoo';\n",
  );
  const script = scriptFromSteps('notes', [
    { calls: [{ tool: 'shell', command: 'cat start.txt > note.txt' }] },
    { text: 'Written.' },
  ]);
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'promptfoo', mode: { kind: 'script', script } });
  const options = [
    '-c',
    'promptfooconfig.json',
    '-o',
    'out.json',
    '--no-cache',
    '--no-table',
    '--no-progress-bar',
  ];
  const env = {
    ...{ PATH: process.env.PATH, HOME: folder, CI: '1', ...lane.env },
    PROMPTFOO_CONFIG_DIR: join(folder, 'promptfoo'),
    PROMPTFOO_DISABLE_TELEMETRY: '1',
    PROMPTFOO_DISABLE_UPDATE: '1',
  };
  const ran = await promisify(execFile)(process.execPath, [program, 'eval', ...options], {
    cwd: folder,
    env,
  }).catch((error: unknown) => error as { stdout: string; stderr: string });
  expect(ran.stdout + ran.stderr).toContain('100');
  const { results } = JSON.parse(readFileSync(join(folder, 'out.json'), 'utf8')).results;
  expect(results).toHaveLength(2);
  for (const { success, response } of results) {
    expect(success).toBe(true);
    expect(response).toMatchObject({
      output: 'Written.',
      sessionId: expect.any(String),
      tokenUsage: { total: expect.any(Number), prompt: expect.any(Number), completion: expect.any(Number) },
      cost: expect.any(Number),
      metadata: { status: 'completed', agent: { commands: [{ command: 'cat start.txt > note.txt' }] } },
      raw: expect.stringContaining('Written.'),
    });
  }
});
