// Drives the invented agent of the copy that this file lies in, as any user of the package would.
import { mkdir, mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createProcessSandboxProvider } from '@whetstone/sandbox';
import type { AgentConfig } from './config.ts';
import { createAgent } from './create-agent.ts';
import { contextPlacesOf } from './native/context-places.ts';

const folder = await mkdtemp(join(tmpdir(), 'recipe-'));
const workdir = join(folder, 'work');
await mkdir(workdir);
const config: AgentConfig = {
  name: 'mine',
  kind: 'invented',
  runner: 'driver',
  driver: { inherit: [] },
  timeoutSeconds: 20,
  network: '',
  env: {},
};
const agent = await createAgent(config, { environment: process.env, hasLanes: true });
const provider = await createProcessSandboxProvider({ scratch: join(folder, 'scratch') });
await using sandbox = await provider.start({ workdir, env: {} });
const session: { id?: string; isNew: boolean } = { isNew: true };
const turn = await agent.send(
  { text: 'hello' },
  {
    signal: new AbortController().signal,
    flags: {},
    session,
    log: () => {},
    sandbox,
    lane: { baseUrl: 'http://127.0.0.1:9', key: 'key', env: {} },
    emit: () => {},
    files: {
      promptFile: join(folder, 'prompt.md'),
      outputDir: folder,
      stateDir: folder,
      stdoutFile: join(folder, 'stdout.log'),
      stderrFile: join(folder, 'stderr.log'),
      taskId: 'task',
      variant: 'variant',
    },
    timeoutMs: 20_000,
  },
);
const texts = turn.events.flatMap((event) => (event.type === 'message' ? [event.text] : []));
console.log(JSON.stringify({ status: turn.status, texts, session: session.id, skills: contextPlacesOf(config).skills }));
