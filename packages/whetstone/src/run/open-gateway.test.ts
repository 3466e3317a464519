import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { watchLearnedSecrets } from '@whetstone/agents/evaluator';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { expect, test } from 'vitest';
import { loadConfig } from '../config/load-config.ts';
import type { PlannedCase } from '../plan/plan.ts';
import { openGateway } from './open-gateway.ts';
import type { PlannedRun } from './plan-or-resume.ts';

test('calls_at_once holds over all cases of a run, and allow_endpoints lets a call to another endpoint pass', async () => {
  await using provider = await createGateway();
  const script = scriptFromSteps('p', [{ text: 'Hello.' }]);
  const faults = [{ fault: { kind: 'latency' as const, ms: 100 } }];
  await using upstream = await provider.open({ owner: 'p', mode: { kind: 'script', script }, faults });
  const folder = mkdtempSync(join(tmpdir(), 'open-gateway-'));
  mkdirSync(join(folder, 'repo'));
  writeFileSync(join(folder, 'key'), upstream.key);
  writeFileSync(join(folder, 'tasks.yaml'), 'tasks:\n  - { id: one, prompt: Do it }\n');
  const yaml = (limits: string): string => `repo: { path: repo }
agent: { name: a, command: run }
variants: { plain: }
gateway:
  mode: forward
  upstreams: { openai: { url: "${upstream.baseUrl}/v1", key_file: key } }
${limits}`;

  async function callsOf(limits: string) {
    writeFileSync(join(folder, 'whetstone.yaml'), yaml(limits));
    const { config } = await loadConfig('whetstone.yaml', { cwd: folder });
    await using gateway = await openGateway(config, {
      plan: { seed: '1', agents: [{ name: 'a' }] },
    } as PlannedRun);
    if (!gateway) return expect.unreachable();
    const open = async (owner: string) =>
      gateway.server.open({ owner, ...(await gateway.laneOf({ id: owner } as PlannedCase, {})) });
    const lanes = [await open('one'), await open('two')];
    await Promise.all(
      lanes.map(async ({ baseUrl, key }) => {
        const init = { method: 'POST', headers: { authorization: `Bearer ${key}` }, body: '{}' };
        await (
          await fetch(`${baseUrl}/v1/responses`, { ...init, body: '{"model":"m","input":"go"}' })
        ).text();
        await (await fetch(`${baseUrl}/v1/embeddings`, init)).text();
      }),
    );
    const queued = lanes.flatMap(({ ledger }) => ledger.filter(({ queued_ms }) => queued_ms >= 60));
    const refused = lanes.some(({ ledger }) =>
      ledger.some(({ flags }) => flags.includes('endpoint-refused')),
    );
    return { queued: queued.length, refused };
  }

  try {
    expect(await callsOf('')).toEqual({ queued: 0, refused: true });
    // The key is in a file, and must be masked like those of the environment.
    const known: string[] = [];
    watchLearnedSecrets((secret) => known.push(secret))[Symbol.dispose]();
    expect(known).toContain(upstream.key);
    const limited = await callsOf('  calls_at_once: 1\n  allow_endpoints: [/v1/embeddings]\n');
    expect(limited).toEqual({ queued: 1, refused: false });
  } finally {
    rmSync(folder, { recursive: true });
  }
});
