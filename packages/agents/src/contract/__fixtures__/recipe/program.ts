// Drives the invented agent of the copy that this file lies in, as any user of the package would.
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { toAgentConfig } from './agent-options.ts';
import { createAgent } from './create-agent.ts';
import { openSession } from './drive/open-session.ts';
import { contextPlacesOf } from './native/context-places.ts';

const config = toAgentConfig({ kind: 'invented' });
const agent = await createAgent(config, { hasLanes: true });
await using session = await openSession(agent, {
  folder: await mkdtemp(join(tmpdir(), 'recipe-')),
  lane: { baseUrl: 'http://127.0.0.1:9', key: 'key', env: {} },
});
const { status, events } = await session.send('hello');
const texts = events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
console.log(JSON.stringify({ status, texts, session: session.id, skills: contextPlacesOf(config).skills }));
