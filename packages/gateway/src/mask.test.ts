import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { call, postJson } from './__fixtures__/clients.ts';
import { keyInFile, sse, startProvider, upstreamsAt } from './__fixtures__/provider.ts';
import { createGateway } from './index.ts';

test('no ledger file and no cassette has what a lane masks, and the keys that the lane reads are reported', async () => {
  const secret = 'harness-key-0123456789';
  const folder = await mkdtemp(join(tmpdir(), 'gateway-mask-'));
  const [ledgerFile, cassette] = [join(folder, 'ledger.jsonl'), join(folder, 'cassette.jsonl')];
  const keys = new Set<string>();
  await using provider = await startProvider((response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    response.end(sse({ type: 'response.output_text.delta', delta: secret }));
  });
  try {
    await using gateway = await createGateway({ onKey: (key) => keys.add(key) });
    const upstreams = upstreamsAt(provider.url, keyInFile('key-of-the-provider'));
    const lane = await gateway.open({
      ...{ owner: 'a', ledgerFile, mask: (text: string) => text.replaceAll(secret, '[masked]') },
      mode: { kind: 'record', upstreams, cassette },
    });
    const init = { method: 'POST', headers: { authorization: `Bearer ${lane.key}` } };
    const body = JSON.stringify({ model: 'm', stream: true, input: secret });
    const answer = await fetch(`${lane.baseUrl}/v1/responses`, { ...init, body });
    expect(await answer.text()).toContain(secret);
    await call(lane, `/v1/${secret}`);
    await postJson(lane, '/v1/responses', { model: secret }).catch(() => undefined);
    await lane.close();
    expect(keys).toEqual(new Set(['key-of-the-provider']));
    for (const file of [ledgerFile, cassette]) {
      const kept = await readFile(file, 'utf8');
      expect(kept).toContain('[masked]');
      expect(kept).not.toContain(secret);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
