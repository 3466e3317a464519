import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PassThrough } from 'node:stream';
import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';
import { runCommand } from './run.ts';
import type { Streams } from './streams.ts';

/** Asks for a command and for a change of a file. */
const ASKING = join(import.meta.dirname, '../../../agents/src/native/acp/__fixtures__/asking-agent.ts');

/** Somebody at a terminal, who gives these answers to the questions one by one. */
function somebody(answers: readonly string[]) {
  const stdin = Object.assign(new PassThrough(), { isTTY: true });
  const stderr = new PassThrough();
  let shown = '';
  let asked = 0;
  stderr.on('data', (chunk: Buffer) => {
    shown += chunk;
    const questions = shown.split('Allow it once? [y/N]').length - 1;
    for (; asked < questions; asked += 1) stdin.write(`${answers[asked] ?? ''}\n`);
  });
  const streams = { stdin, stdout: new PassThrough().resume(), stderr } as unknown as Streams;
  return { streams, shown: () => shown };
}

test('--interactive lets a human at the terminal decide what no rule and no permission allows', async () => {
  using project = makeProject({
    tasks: [{ id: 'ask', prompt: 'Ask.' }],
    config: {
      agents: { asking: { kind: 'acp', command: [process.execPath, ASKING] } },
      variants: { plain: {} },
    },
  });
  const { streams, shown } = somebody(['y', 'n']);
  const few = { agent: [], variant: [], taskId: [], category: [], difficulty: [], trials: 1, jobs: 1 };
  const config = join(project.root, 'whetstone.yaml');
  await runCommand({ ...few, config, interactive: true }, streams);
  expect(shown()).toContain('The agent asks: run npm test');
  expect(shown()).toMatch(/The agent asks: change \S+made\.txt/);
  const { directory, rows } = project.latest();
  const file = join(directory, 'cases', rows[0]?.case_id ?? '', 'agent.json');
  const { approvals } = JSON.parse(readFileSync(file, 'utf8'));
  expect(approvals).toMatchObject([
    { decision: 'approved', by: 'user', rule: '--interactive' },
    { decision: 'denied', by: 'policy', rule: 'permissions.filesystem: read-only' },
  ]);
});
