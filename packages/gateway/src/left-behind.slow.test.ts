import { queryObjects } from 'node:v8';
import { expect, test } from 'vitest';
import { routes, serve } from './__fixtures__/served-lanes.ts';
import { createGateway } from './index.ts';

/** Collects garbage and counts the objects that are left. */
const liveSignals = (): number => Number(queryObjects(AbortSignal, { format: 'count' }));

test.each(routes)(
  'calls that have ended leave no signals behind, and nothing that their listeners hold: %s',
  async (route) => {
    await using gateway = await createGateway();
    await using served = await serve(gateway, route, { text: 'ok' });
    const callOften = async (): Promise<void> => {
      for (let calls = 0; calls < 20; calls++) {
        const body = { model: 'm', stream: true, messages: [{ role: 'user', content: 'Hello.' }] };
        const answer = await fetch(`${served.lane.baseUrl}/v1/messages`, {
          method: 'POST',
          headers: { 'x-api-key': served.lane.key },
          body: JSON.stringify(body),
        });
        await answer.text();
      }
    };
    await callOften();
    const before = liveSignals();
    await callOften();
    // Weakly held objects need several rounds to go.
    await expect.poll(() => liveSignals() - before, { timeout: 5000 }).toBeLessThan(10);
  },
);
