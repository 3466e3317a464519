import { createHash } from 'node:crypto';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { createGateway, type Script, type ScriptStep, scriptFromSteps } from '@whetstone/gateway';
import { temporaryEnvironment } from '../../__fixtures__/temporary-directory.ts';
import { createModel } from '../../llm/create-model.ts';
import { Session } from '../../session/session.ts';
import type { SessionConfig } from '../../control/session-config.ts';
import type { EventKind, SessionEvent, SessionEventOf } from '../../events/session-event.ts';
import type { RegisteredTool } from '../../tools/tool.ts';
import type { Provider } from './providers.ts';
import type { Body, WireItem } from './wire-items.ts';

export type CellOptions = {
  /** What the model does. */
  script: readonly ScriptStep[] | Script['play'];
  /** Files in the working directory, by path. */
  files?: Record<string, string>;
  config?: Partial<SessionConfig>;
  /** On top of the profile's. */
  tools?: RegisteredTool[];
};

export type WireRequest = { body: Body; items: WireItem[] };

/**
 * One cell of the matrix: a session with the provider's profile and wire in a folder of its own, and a gateway of its own
 * that plays the model.
 */
export async function startCell(
  provider: Provider,
  { script, files = {}, config = {}, tools = [] }: CellOptions,
) {
  const place = await temporaryEnvironment();
  for (const [name, content] of Object.entries(files)) {
    await mkdir(path.dirname(place.path(name)), { recursive: true });
    await writeFile(place.path(name), content);
  }
  const gateway = await createGateway();
  const played =
    typeof script === 'function' ? { name: 'cell', play: script } : scriptFromSteps('cell', script);
  const lane = await gateway.open({ owner: 'cell', mode: { kind: 'script', script: played } });

  const sent: string[] = [];
  const model = await createModel({
    provider: provider.wire,
    model: provider.model,
    baseUrl: `${lane.baseUrl}/${provider.version}`,
    apiKey: lane.key,
    fetch: (input, init) => {
      sent.push(String(init?.body));
      return fetch(input, init);
    },
  });
  const profile = provider.createProfile({ model: provider.model, toolSet: 'spec' });
  for (const tool of tools) profile.toolRegistry.register(tool);
  const session = new Session({ profile, environment: place.environment, model, config });
  const events: SessionEvent[] = [];
  session.on((event) => events.push(event));
  return {
    session,
    directory: place.directory,
    ledger: lane.ledger,
    read: (name: string) => readFile(place.path(name), 'utf8'),
    path: place.path,
    events,
    of: <Kind extends EventKind>(kind: Kind) =>
      events.filter((event): event is SessionEventOf<Kind> => event.kind === kind),
    /** The requests as the gateway got them, in their order; those of subagents too. Ends the lane. */
    requests: async (): Promise<WireRequest[]> => {
      await lane.close();
      const received = new Set(lane.ledger.map((line) => line.request_hash));
      const lost = sent.filter((text) => !received.has(createHash('sha256').update(text).digest('hex')));
      if (lost.length > 0)
        throw new Error(`${lost.length} requests did not reach the gateway as they were sent`);
      return sent.map((text) => {
        const body: Body = JSON.parse(text);
        return { body, items: provider.items(body) };
      });
    },
    [Symbol.asyncDispose]: async () => {
      await session.close();
      await gateway.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** The results of calls that a request holds, in its order. */
export function resultsIn(request: WireRequest | undefined) {
  return (request?.items ?? []).filter((item) => item.kind === 'result');
}

/** What the user's side of a request says in text, in its order. */
export function userTextsIn(request: WireRequest | undefined): string[] {
  return (request?.items ?? []).flatMap((item) =>
    item.kind === 'text' && item.role === 'user' ? [item.text] : [],
  );
}
