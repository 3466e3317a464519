import { execFileSync } from 'node:child_process';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { type Agent, createAgent, drivenAgents, openSession } from '@whetstone/agents';
import type { DrivenAgentKind } from '@whetstone/agents/config';
import { testedVersion } from '@whetstone/agents/install';
import { defineScript, type Gateway, type Lane, type Script } from '@whetstone/gateway';
import { expect } from 'vitest';
import { KNOWN_MODELS, mayRunCommands, quickStart } from './drive-agent.ts';
import { cacheFolder } from './install.ts';

/** The text of a planted file names it, so that a request shows which ones an agent read. */
export const markOf = (name: string): string => `Planted as <${name}>.`;

/** Writes files that name themselves into a folder; `more` follows the name. */
export function plant(folder: string, names: readonly string[], more = ''): void {
  for (const name of names) {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    const scope = name.endsWith('.instructions.md') ? '---\napplyTo: "**"\n---\n' : '';
    writeFileSync(join(folder, name), `${scope}${markOf(name)}\n${more}`);
  }
}

/** The planted files that one request shows, in their order there. */
export const plantedIn = (body: string, names: readonly string[]): string[] =>
  names
    .filter((name) => body.includes(markOf(name)))
    .sort((a, b) => body.indexOf(markOf(a)) - body.indexOf(markOf(b)));

export const hello = defineScript({ name: 'hello', play: () => ({ text: 'Hello.' }) });

/** A lane that keeps the body of every request. */
export async function keepingLane(
  gateway: Gateway,
  script: Script = hello,
): Promise<{ lane: Lane; bodies: string[] }> {
  const bodies: string[] = [];
  const lane = await gateway.open({
    owner: 'test',
    mode: { kind: 'script', script },
    onRequest: ({ body }) => bodies.push(Buffer.from(body).toString()),
  });
  return { lane, bodies };
}

/** A folder with a repository, in which an agent may work. */
export function makeWorkspace(folder: string): string {
  mkdirSync(folder, { recursive: true });
  execFileSync('git', ['init', '--quiet'], { cwd: folder });
  return folder;
}

/** The released agent, which may run commands. */
export const createReleased = (kind: DrivenAgentKind): Promise<Agent> =>
  createAgent(
    {
      kind,
      version: testedVersion(drivenAgents[kind]),
      model: KNOWN_MODELS[kind],
      ...mayRunCommands(kind),
      env: quickStart,
    },
    { environment: { ...process.env, XDG_CACHE_HOME: cacheFolder }, hasLanes: true },
  );

/** The bodies of the requests of one turn in a workspace; `above`: whether files above it may be read. */
export async function requestsOf(
  agent: Agent,
  workspace: string,
  gateway: Gateway,
  { script, above = 'refused' }: { script?: Script; above?: 'allowed' | 'refused' } = {},
): Promise<string[]> {
  const { lane, bodies } = await keepingLane(gateway, script);
  await using _ = lane;
  await using session = await openSession(agent, {
    folder: workspace,
    ...(above === 'allowed' && { above }),
    lane: { ...lane, env: {} },
  });
  const turn = await session.send({ text: 'Say hello.' }, { timeoutMs: 90_000 });
  expect(turn.status, JSON.stringify(turn)).toBe('completed');
  expect(bodies.length).toBeGreaterThan(0);
  return bodies;
}
