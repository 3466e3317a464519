import type { JsonObject, JsonValue } from '@whetstone/events';

/** A question that an agent asks a human, and that a policy answers instead (provider taxonomy, "Permission and Interaction Model"). */
export type PolicyRequest = { callId: string; reason?: string } & (
  | { kind: 'command'; command: string; cwd?: string; host?: string }
  /** Absolute paths, or relative to the workspace. */
  | { kind: 'file-change' | 'file-read'; paths: readonly string[] }
  /** More permissions for the rest of the turn or session. */
  | { kind: 'grant'; paths?: readonly string[]; hosts?: readonly string[]; what: string }
  /** Any other tool; MCP tools as `mcp__SERVER__TOOL`. */
  | { kind: 'tool'; name: string; input: JsonValue; paths?: readonly string[]; host?: string }
  | { kind: 'question'; questions: readonly Question[] }
  | { kind: 'elicitation'; server: string; message: string }
  /** Installing or changing a plugin, a configuration, a skill. */
  | { kind: 'plugin' | 'config'; what: string }
);

/** Every kind of question. */
export const requestKinds = [
  'command',
  'file-change',
  'file-read',
  'grant',
  'tool',
  'question',
  'elicitation',
  'plugin',
  'config',
] as const satisfies readonly PolicyRequest['kind'][];

export type Question = { id: string; text: string; options: readonly string[] };

export type PolicyDecision = {
  decision: 'approved' | 'denied';
  /** The rule that decided, as written, or the permission or default, for example `permissions.shell: off`. */
  rule: string;
  /** Of questions, by their id. Default: no answer. */
  answers?: Readonly<Record<string, readonly string[]>>;
  /** Of an elicitation. */
  content?: JsonObject;
};

/** Asks a human what no rule and no permission allows; `undefined` leaves the decision to the policy. For debugging. */
export type AskHuman = (request: PolicyRequest) => Promise<PolicyDecision | undefined>;

export type DecidePolicy = (request: PolicyRequest) => Promise<PolicyDecision>;

/** A rule matches when all its conditions do; the first rule that matches decides. */
export type PolicyRule = { allow: RuleConditions } | { deny: RuleConditions };

/**
 * At least one. In each pattern `*` stands for any text; in a path, `*` does not cross a `/` and `**` does. A request
 * without what a condition is about, such as a command without a host, is not matched by it.
 */
export type RuleConditions = {
  /** The name of a tool; MCP tools are `mcp__SERVER__TOOL`. */
  tool?: string;
  /** A command with its arguments, separated by one space. */
  command?: string;
  /** A path of the workspace, or an absolute one. */
  path?: string;
  /** A host name, without its port. */
  host?: string;
  kind?: PolicyRequest['kind'];
};
