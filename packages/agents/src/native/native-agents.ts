import type { JsonObject } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Enforcer } from '../policy/permissions.ts';
import { acp } from './acp/acp.ts';
import { bub } from './bub/bub.ts';
import { claudeAgentSdk } from './claude-agent-sdk/claude-agent-sdk.ts';
import { claudeCode } from './claude-code/claude-code.ts';
import { coco } from './coco/coco.ts';
import { codexAppServer } from './codex-app-server/codex-app-server.ts';
import { codexCli } from './codex-cli/codex-cli.ts';
import { codexSdk } from './codex-sdk/codex-sdk.ts';
import { copilot } from './copilot/copilot.ts';
import { geminiCli } from './gemini-cli/gemini-cli.ts';
import type { DrivenAgent, NativeAgent } from './native-agent.ts';
import { opencodeCli } from './opencode-cli/opencode-cli.ts';
import { opencodeSdk } from './opencode-sdk/opencode-sdk.ts';
import { pi } from './pi/pi.ts';
import { qwenCode } from './qwen-code/qwen-code.ts';
import { traecli } from './traecli/traecli.ts';

/** Every released agent that Whetstone knows, by its kind. A new agent is a folder and a line here. */
export const nativeAgents = {
  'codex-cli': codexCli,
  'codex-app-server': codexAppServer,
  'claude-code': claudeCode,
  'gemini-cli': geminiCli,
  'qwen-code': qwenCode,
  'opencode-cli': opencodeCli,
  pi,
  copilot,
  'codex-sdk': codexSdk,
  'claude-agent-sdk': claudeAgentSdk,
  'opencode-sdk': opencodeSdk,
  traecli,
  coco,
  bub,
  acp,
} satisfies Record<string, NativeAgent>;

export type NativeAgentKind = keyof typeof nativeAgents;

/** The kinds that Whetstone starts itself when the configuration gives no command. */
export type DrivenAgentKind = {
  [Kind in NativeAgentKind]: (typeof nativeAgents)[Kind] extends DrivenAgent ? Kind : never;
}[NativeAgentKind];

/** The kinds that are a protocol, which several agents speak. */
export type ProtocolKind = {
  [Kind in NativeAgentKind]: (typeof nativeAgents)[Kind] extends ProtocolAgent ? Kind : never;
}[NativeAgentKind];

type ProtocolAgent = NativeAgent & { agents: Readonly<Record<string, DrivenAgent>> };

/** A released agent of the table that Whetstone starts itself. */
export type KnownDrivenAgent = DrivenAgent & { kind: DrivenAgentKind };

/** The agents that Whetstone starts itself, by their kind. */
export const drivenAgents = Object.fromEntries(
  Object.entries<NativeAgent>(nativeAgents).filter(([, agent]) => 'launch' in agent),
) as Readonly<Record<DrivenAgentKind, KnownDrivenAgent>>;

export const drivenAgentKinds = Object.keys(drivenAgents) as readonly DrivenAgentKind[];

export const isDrivenKind = (kind: string): kind is DrivenAgentKind => Object.hasOwn(drivenAgents, kind);

/** What a driven agent can be held to with these options of its kind, and whether it asks a policy. */
export const enforcerOf = (
  { facts, launch, unkeptRules, attaches }: DrivenAgent,
  options: JsonObject = {},
): Enforcer => ({
  enforces: (attaches && options[attaches.option] !== undefined ? attaches : facts).enforces ?? {},
  asks: launch.dialogue !== undefined && facts.asksNothing !== true,
  beginsSafe: launch.dialogue !== undefined,
  ...present({ unkeptRules }),
});

export const protocolKinds = Object.values<NativeAgent>(nativeAgents).flatMap(({ kind, agents }) =>
  agents ? [kind as ProtocolKind] : [],
);

/** The adapters of protocols: installed as programs of their own, beside the agents that speak a protocol themselves. */
export const protocolAdapters: readonly KnownDrivenAgent[] = protocolKinds.flatMap((kind) =>
  Object.values<DrivenAgent>(nativeAgents[kind].agents).filter(isAdapter),
);

function isAdapter(agent: DrivenAgent): agent is KnownDrivenAgent {
  return isDrivenKind(agent.kind) && agent.release.package !== drivenAgents[agent.kind].release.package;
}

/** The agents that a protocol drives, by name; `undefined` for other kinds. */
export const protocolAgentsOf = (kind: string): Readonly<Record<string, DrivenAgent>> | undefined =>
  nativeAgentOf(kind)?.agents;

/** The released agent of a kind; `undefined` for other kinds: `custom`, `loop`. */
export const nativeAgentOf = (kind: string): NativeAgent | undefined =>
  Object.hasOwn(nativeAgents, kind) ? nativeAgents[kind as NativeAgentKind] : undefined;

/** The kinds whose stream, transcript or both Whetstone can read. */
export const readableKinds = Object.values<NativeAgent>(nativeAgents).flatMap((agent) =>
  agent.stream || agent.transcript ? [agent.kind as NativeAgentKind] : [],
);

/**
 * Other names of kinds that a configuration can name, each with its kind. What drives an adapter of the AI SDK's harness is
 * a module of the user, as it is configured in code.
 */
export const kindAliases: Readonly<Record<string, AgentKind>> = {
  ...Object.fromEntries(
    Object.values<NativeAgent>(nativeAgents).flatMap(({ kind, aliases = [] }) =>
      aliases.map((alias) => [alias, kind as NativeAgentKind]),
    ),
  ),
  'ai-sdk-harness': 'custom',
};

/** The kind that a name means: another name of a kind is that kind. */
export const kindNamed = (name: string): string =>
  (Object.hasOwn(kindAliases, name) ? kindAliases[name] : name) ?? name;

/** Every `kind:` that a configuration can name. */
export const agentKinds = [...(Object.keys(nativeAgents) as NativeAgentKind[]), 'custom', 'loop'] as const;
export type AgentKind = (typeof agentKinds)[number];
