import { isJsonObject, type JsonObject, type JsonValue } from './json.ts';
import { present } from './present.ts';
import { shellCommand } from './shell-command.ts';
import type { StreamEvent, StreamEventOf } from './stream-event.ts';
import { addUsage, type Usage } from './usage.ts';

export type ToolActivity = {
  callId: string;
  name: string;
  input: JsonValue;
  output?: JsonValue;
  /** `pending`: called, without a result. */
  status: 'completed' | 'failed' | 'rejected' | 'pending';
};

/** A question whether a call may happen, and its answer. `by` and `rule` as in the event `approval.decided`. */
export type Approval = {
  callId: string;
  decision: 'approved' | 'denied' | 'pending';
  by?: StreamEventOf<'approval.decided'>['by'];
  rule?: string;
};

/** What an adapter knows but its events cannot carry. */
export type AgentFacts = {
  runtime?: string;
  runtimeVersion?: string;
  sessionId?: string;
  threadId?: string;
  turnId?: string;
  workingDir?: string;
  /** What Whetstone enforced. */
  sandbox?: string;
  network?: string;
  /** When the agent asks before a call: `never`, `policy` (Whetstone's policy answers), or the agent's own word. */
  approvalPolicy?: string;
  /** What the agent says that it may do, in its own words, such as `danger-full-access` or `bypassPermissions`. */
  own?: { sandbox?: string; network?: string; approvalPolicy?: string; mode?: string };
  /** What the agent was held to, by surface: `filesystem`, `shell`, `network`, `apps`, `environment`. */
  permissions?: Readonly<Record<string, string>>;
  /** `external`: the agent worked on a server of the user, whose configuration and state are not Whetstone's. */
  reproducibility?: 'external';
  trace?: { traceId?: string; spanId?: string };
  /** What the agent has to offer, by catalogue, if it was asked: models, skills, plugins, apps. `null`: it did not say. */
  discovered?: JsonObject;
  /** The models, their calls, tokens and cost, where the adapter knows them better than the events. */
  models?: string[];
  modelCalls?: number | null;
  usage?: Usage | undefined;
  costUsd?: number | undefined;
};

/**
 * What an agent did, in one shape for every agent (provider taxonomy, "Shared Agent Metadata Schema"). It is derived
 * from the events; `facts` add what events cannot carry.
 */
export type AgentMetadata = Omit<AgentFacts, 'models' | 'modelCalls'> & {
  tools: ToolActivity[];
  commands: { callId: string; command: string; exitCode?: number; status: ToolActivity['status'] }[];
  /** What the host saw of a path, if it looked; else what the agent reported, change by change. */
  fileChanges: { path: string; change: 'added' | 'modified' | 'deleted' | 'renamed'; from?: string }[];
  /** A call that was refused has a decision here and the status `rejected`, however its agent reports it. */
  approvals: Approval[];
  mcp: { callId: string; server: string; tool: string; status: ToolActivity['status'] }[];
  skills: { confirmed: string[]; attempted: string[] };
  /** The models that answered. Where no usage names one: those that the session began with. */
  models: string[];
  /** `null`: unknown. */
  modelCalls: number | null;
  errors: string[];
};

/** Derives the metadata of a stream. Pure: the same events and facts give the same metadata. */
export function deriveAgentMetadata(events: readonly StreamEvent[], facts: AgentFacts = {}): AgentMetadata {
  const metadata: AgentMetadata = {
    tools: [],
    commands: [],
    fileChanges: [],
    approvals: [],
    mcp: [],
    skills: { confirmed: [], attempted: [] },
    models: [],
    modelCalls: null,
    errors: [],
  };
  const tools = new Map<string, ToolActivity>();
  for (const event of events) collect(event, metadata, tools);
  metadata.modelCalls = countModelCalls(events);
  if (metadata.models.length === 0) metadata.models = askedModels(events);
  metadata.fileChanges = fileChangesIn(events);
  metadata.tools = [...tools.values()];
  settleRefusals(metadata);
  for (const tool of metadata.tools) classifyTool(tool, metadata);
  return Object.assign(metadata, facts);
}

function collect(event: StreamEvent, metadata: AgentMetadata, tools: Map<string, ToolActivity>): void {
  switch (event.type) {
    case 'session.started': {
      const { sessionId, runtime, runtimeVersion, workingDir } = event;
      Object.assign(metadata, present({ sessionId, runtime, runtimeVersion, workingDir }));
      return;
    }
    case 'action.called': {
      const { callId, name, input } = event;
      tools.set(callId, { callId, name, input, status: 'pending' });
      return;
    }
    case 'action.result': {
      const tool = tools.get(event.callId);
      if (!tool) return;
      tool.status = event.status;
      if (event.output !== undefined) tool.output = event.output;
      return;
    }
    case 'usage':
      metadata.usage = metadata.usage ? addUsage(metadata.usage, event.usage) : event.usage;
      if (event.costUsd !== undefined) metadata.costUsd = (metadata.costUsd ?? 0) + event.costUsd;
      if (event.model !== undefined) addOnce(metadata.models, event.model);
      return;
    case 'approval.requested':
      metadata.approvals.push({ callId: event.callId, decision: 'pending' });
      return;
    case 'approval.decided': {
      const { callId, decision, by, rule } = event;
      const questions = metadata.approvals.filter((approval) => approval.callId === callId);
      // A call that is asked about again has a decision for each question.
      const asked = questions.find((approval) => approval.decision === 'pending') ?? questions.at(-1);
      const decided = { callId, decision, ...present({ by, rule }) };
      if (asked) Object.assign(asked, decided);
      else metadata.approvals.push(decided);
      return;
    }
    case 'skill.loaded':
      addOnce(metadata.skills.confirmed, event.skill);
      return;
    case 'error':
      metadata.errors.push(event.message);
  }
}

/** The models of the session's start: an agent may begin with `auto`, and another model answers. */
const askedModels = (events: readonly StreamEvent[]): string[] => [
  ...new Set(events.flatMap((event) => (event.type === 'session.started' ? (event.model ?? []) : []))),
];

function countModelCalls(events: readonly StreamEvent[]): number | null {
  const counts = events.flatMap((event) =>
    event.type === 'usage' ? [event.calls === undefined ? 1 : event.calls] : [],
  );
  if (counts.length === 0 || counts.includes(null)) return null;
  return counts.reduce<number>((sum, calls) => sum + (calls ?? 0), 0);
}

/** An agent may not say that a file is new, or that a command changed it. The host knows. */
function fileChangesIn(events: readonly StreamEvent[]): AgentMetadata['fileChanges'] {
  const changes = events.filter((event) => event.type === 'file.changed');
  const ofHost = changes.filter(({ source }) => source === 'host');
  const seen = new Set(
    ofHost.length < changes.length ? ofHost.flatMap(({ path, from }) => [path, from]) : [],
  );
  return changes
    .filter(({ source, path }) => source === 'host' || !seen.has(path))
    .map(({ path, change, from }) => (from === undefined ? { path, change } : { path, change, from }));
}

/** Some agents report a refusal only as a decision, and some only as the end of the call. */
function settleRefusals({ tools, approvals }: AgentMetadata): void {
  const decisions = new Map(approvals.map(({ callId, decision }) => [callId, decision]));
  for (const tool of tools) {
    if (tool.status === 'rejected' && !decisions.has(tool.callId)) {
      approvals.push({ callId: tool.callId, decision: 'denied', by: 'agent' });
    }
    if (tool.status !== 'completed' && decisions.get(tool.callId) === 'denied') tool.status = 'rejected';
  }
}

function classifyTool(tool: ToolActivity, metadata: AgentMetadata): void {
  const input = isJsonObject(tool.input) ? tool.input : {};
  const command = shellCommand(tool);
  if (command) {
    const exitCode = isJsonObject(tool.output) ? (tool.output.exitCode ?? tool.output.exit_code) : undefined;
    const ended = typeof exitCode === 'number' ? { exitCode } : {};
    metadata.commands.push({ callId: tool.callId, command: command.line, status: tool.status, ...ended });
  }
  const mcp = /^mcp__(?<server>.+?)__(?<tool>.+)$/.exec(tool.name)?.groups;
  if (mcp) {
    const { server = '', tool: name = '' } = mcp;
    metadata.mcp.push({ callId: tool.callId, server, tool: name, status: tool.status });
  }
  if (tool.name === 'load_skill' && typeof input.skill === 'string') {
    const list = tool.status === 'completed' ? metadata.skills.confirmed : metadata.skills.attempted;
    addOnce(list, input.skill);
  }
}

function addOnce(list: string[], value: string): void {
  if (!list.includes(value)) list.push(value);
}
