import type { JsonObject, JsonValue } from '@whetstone/events';

/** A question that an agent asks a human, and that a policy answers instead (provider taxonomy, "Permission and Interaction Model"). */
export type PolicyRequest = { callId: string; reason?: string } & (
  | { kind: 'command'; command: string; cwd?: string; host?: string }
  /** Absolute paths, or relative to the workspace. */
  | { kind: 'file-change'; paths: readonly string[] }
  /** More permissions for the rest of the turn or session. */
  | { kind: 'grant'; paths?: readonly string[]; hosts?: readonly string[]; what: string }
  /** Any other tool; MCP tools as `mcp__SERVER__TOOL`. */
  | { kind: 'tool'; name: string; input: JsonValue; paths?: readonly string[]; host?: string }
  | { kind: 'question'; questions: readonly Question[] }
  | { kind: 'elicitation'; server: string; message: string }
  /** Installing or changing a plugin, a configuration, a skill. */
  | { kind: 'plugin' | 'config'; what: string }
);

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

export type DecidePolicy = (request: PolicyRequest) => Promise<PolicyDecision>;

/** A rule matches when all that it names matches; the first rule that matches decides. */
export type PolicyRule = {
  decision: 'allow' | 'deny';
  /** Globs. */
  tool?: string;
  command?: string;
  path?: string;
  host?: string;
  kind?: PolicyRequest['kind'];
};
