import { leanEnvironment } from '../../packages/whetstone/src/workspace/lean-memory.ts';
import type { Target } from './calls.ts';
import { startRouter } from './claude-code-router.ts';
import type { GatewayOrder, LaneKind, OpenedLane } from './gateway-program.ts';
import { type Program, startProgram } from './program.ts';
import { messagesPath } from './request.ts';
import type { Reply } from './upstream-program.ts';

/** One way from the client to the provider. */
export type Hop = {
  subject: string;
  target: Target;
  /** The process of the proxy, if there is one. */
  pid?: number;
};

export type ProxyHop = Hop & { pid: number };

/** The floor of what a proxy in Node.js costs on this machine: it only passes bytes on. */
export const PIPE = 'bare Node pipe';
/** What keeping the bodies of calls costs is the difference to this. */
export const NOTHING_KEPT = 'whetstone, no bodies kept';

/** Starts a client and its ways to one provider, each in a process of its own. `router`: whether the peer takes part. */
export async function startHops(reply: Reply, router: boolean) {
  await using started = new AsyncDisposableStack();
  const client = started.use(await startProgram('client', {}));
  const upstream = started.use(await startProgram<string>('upstream', reply));
  const url = upstream.ready;
  const direct: Hop = {
    subject: 'no proxy',
    target: { url: `${url}${messagesPath}`, headers: { 'x-api-key': 'any' }, model: 'fake' },
  };
  const lane = { kind: 'forward' as const, upstream: url };
  const gateway = started.use(await startGateway({ ...lane, keeps: true }));
  const without = started.use(await startGateway({ ...lane, keeps: false }));
  const pipe = started.use(await startPipe(url));
  const peers: ProxyHop[] = [
    { ...without, subject: NOTHING_KEPT },
    pipe,
    ...(router ? [started.use(await startRouter(url))] : []),
  ];
  const all = started.move();
  return { client, direct, gateway, pipe, peers, [Symbol.asyncDispose]: () => all.disposeAsync() };
}

/** As `whetstone run` starts itself. */
const RUN_OPTIONS = ['--max-semi-space-size=4'];
const RUN_ENVIRONMENT = leanEnvironment();

export async function startGateway(lane: LaneKind): Promise<ProxyHop & Program> {
  const gateway = await startProgram<OpenedLane>('gateway', lane, {
    nodeOptions: RUN_OPTIONS,
    env: RUN_ENVIRONMENT,
  });
  return { ...gateway, subject: 'whetstone', target: targetOf(gateway.ready) };
}

async function startPipe(url: string): Promise<ProxyHop & Program> {
  const pipe = await startProgram<string>('pipe', url);
  const target = { url: `${pipe.ready}${messagesPath}`, headers: { 'x-api-key': 'any' }, model: 'fake' };
  return { ...pipe, subject: PIPE, target };
}

/** Closes the lane, opens another, and returns its target. */
export async function nextLane(gateway: Program): Promise<Target> {
  return targetOf(await gateway.ask<OpenedLane>({ order: 'next-lane' } satisfies GatewayOrder));
}

const targetOf = ({ baseUrl, key }: OpenedLane): Target => ({
  url: `${baseUrl}${messagesPath}`,
  headers: { 'x-api-key': key },
  model: 'fake',
});
