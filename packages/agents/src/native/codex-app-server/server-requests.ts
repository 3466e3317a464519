import type { JsonObject, JsonValue } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { RPC_CODES, RpcError } from '../../kit/json-rpc.ts';
import type { DecidePolicy, PolicyDecision, PolicyRequest } from '../../policy/policy.ts';
import { shellCommand } from '../codex-cli/shell-command.ts';
import type {
  ApplyPatchApprovalParams,
  ApplyPatchApprovalResponse,
  CommandExecutionRequestApprovalParams,
  CommandExecutionRequestApprovalResponse,
  CurrentTimeReadResponse,
  DynamicToolCallParams,
  DynamicToolCallResponse,
  ExecCommandApprovalParams,
  ExecCommandApprovalResponse,
  FileChangeRequestApprovalParams,
  FileChangeRequestApprovalResponse,
  GrantedPermissionProfile,
  McpServerElicitationRequestResponse,
  PermissionsRequestApprovalParams,
  PermissionsRequestApprovalResponse,
  ToolRequestUserInputParams,
  ToolRequestUserInputResponse,
} from './protocol.ts';
import type { ServerRequestMethod } from './protocol-methods.ts';

/** What the answers need of the turn. */
export type Questioned = {
  decide: DecidePolicy;
  /** The open call of an MCP tool. */
  callOf: (server: string, tool: string) => string | undefined;
  /** The paths of a patch, by its item. Codex asks about a patch without naming them. */
  pathsOf: (itemId: string) => readonly string[];
};

/** The fields of each question, which hold what Codex says they do, or anything. */
type Asked = {
  'item/commandExecution/requestApproval': CommandExecutionRequestApprovalParams;
  'item/fileChange/requestApproval': FileChangeRequestApprovalParams;
  'item/permissions/requestApproval': PermissionsRequestApprovalParams;
  'item/tool/requestUserInput': ToolRequestUserInputParams;
  'item/tool/call': DynamicToolCallParams;
  execCommandApproval: ExecCommandApprovalParams;
  applyPatchApproval: ApplyPatchApprovalParams;
};
type Fields<Of> = { readonly [Field in keyof Of]?: JsonValue };

type Answers = {
  [Method in ServerRequestMethod]: (
    params: Method extends keyof Asked ? Fields<Asked[Method]> : JsonObject,
    turn: Questioned,
  ) => Promise<JsonObject>;
};

/** Answers what Codex asks its client. A policy decides; nothing is accepted for longer than this one time. */
const answers: Answers = {
  async 'item/commandExecution/requestApproval'(params, { decide }) {
    const { decision } = await decide({ ...idOf(params.itemId, params), ...commandOf(params) });
    return {
      decision: decision === 'approved' ? 'accept' : 'decline',
    } satisfies CommandExecutionRequestApprovalResponse;
  },
  async 'item/fileChange/requestApproval'(params, { decide, pathsOf }) {
    const root = textIn(params.grantRoot);
    const paths = [...pathsOf(textIn(params.itemId) ?? ''), ...(root === undefined ? [] : [root])];
    const { decision } = await decide({ ...idOf(params.itemId, params), ...patchOf(paths) });
    return {
      decision: decision === 'approved' ? 'accept' : 'decline',
    } satisfies FileChangeRequestApprovalResponse;
  },
  async 'item/permissions/requestApproval'(params, { decide }) {
    const asked = objectIn(params.permissions) ?? {};
    const paths = pathsIn(asked.fileSystem);
    const { decision } = await decide({
      ...idOf(params.itemId, params),
      ...{ kind: 'grant', what: JSON.stringify(asked), ...(paths.length > 0 && { paths }) },
      ...(objectIn(asked.network)?.enabled === true && { hosts: ['*'] }),
    });
    const granted = Object.fromEntries(Object.entries(asked).filter(([, value]) => value !== null));
    const permissions = (decision === 'approved' ? granted : {}) as GrantedPermissionProfile;
    return { permissions, scope: 'turn' } satisfies PermissionsRequestApprovalResponse as JsonObject;
  },
  async 'item/tool/requestUserInput'(params, { decide }) {
    const questions = objectsIn(params.questions).map(({ id, question, options }) => ({
      id: textIn(id) ?? '',
      text: textIn(question) ?? '',
      options: objectsIn(options).flatMap(({ label }) => textIn(label) ?? []),
    }));
    const { answers: given = {} } = await decide({
      ...idOf(params.itemId, {}),
      kind: 'question',
      questions,
    });
    const byId = questions.map(({ id }) => [id, { answers: [...(given[id] ?? [])] }]);
    return { answers: Object.fromEntries(byId) } satisfies ToolRequestUserInputResponse;
  },
  async 'mcpServer/elicitation/request'(params, { decide, callOf }) {
    const { decision, content } = await decide(elicitationOf(params, callOf));
    return {
      action: decision === 'approved' ? 'accept' : 'decline',
      content: decision === 'approved' ? (content ?? {}) : null,
      _meta: null,
    } satisfies McpServerElicitationRequestResponse;
  },
  async 'item/tool/call'(params, { decide }) {
    const [tool = '', space] = [textIn(params.tool), textIn(params.namespace)];
    const { rule } = await decide({
      ...idOf(params.callId, {}),
      ...{
        kind: 'tool',
        name: space === undefined ? tool : `${space}.${tool}`,
        input: params.arguments ?? null,
      },
    });
    // Whetstone offers Codex no tools of its own, so even an allowed call has nobody who does it.
    const text = `The tool ${tool} is not available (${rule}).`;
    return { contentItems: [{ type: 'inputText', text }], success: false } satisfies DynamicToolCallResponse;
  },
  async 'currentTime/read'() {
    return { currentTimeAt: Math.floor(Date.now() / 1000) } satisfies CurrentTimeReadResponse;
  },
  async execCommandApproval(params, { decide }) {
    const { decision, rule } = await decide({ ...idOf(params.callId, params), ...commandOf(params) });
    return { decision: legacy(decision, rule) } satisfies ExecCommandApprovalResponse;
  },
  async applyPatchApproval(params, { decide }) {
    const paths = Object.keys(objectIn(params.fileChanges) ?? {});
    const { decision, rule } = await decide({ ...idOf(params.callId, params), ...patchOf(paths) });
    return { decision: legacy(decision, rule) } satisfies ApplyPatchApprovalResponse;
  },
  async 'account/chatgptAuthTokens/refresh'() {
    throw new RpcError(RPC_CODES.internal, 'The client of this session refreshes no login.');
  },
  async 'attestation/generate'() {
    throw new RpcError(RPC_CODES.internal, 'The client of this session attests nothing.');
  },
};

/** @throws RpcError for a request that is unknown here, or that no policy can answer */
export async function answerRequest(
  method: string,
  params: JsonObject,
  turn: Questioned,
): Promise<JsonObject> {
  if (!Object.hasOwn(answers, method)) {
    throw new RpcError(
      RPC_CODES.methodNotFound,
      `The client of this session does not know ${method.slice(0, 200)}.`,
    );
  }
  const answer: (params: JsonObject, turn: Questioned) => Promise<JsonObject> =
    answers[method as ServerRequestMethod];
  return await answer(params, turn);
}

const idOf = (id: JsonValue | undefined, { reason }: { reason?: JsonValue }) => ({
  callId: textIn(id) ?? 'unnamed',
  ...present({ reason: textIn(reason) }),
});

function commandOf({
  command,
  cwd,
  networkApprovalContext,
}: Fields<Pick<CommandExecutionRequestApprovalParams, 'command' | 'cwd' | 'networkApprovalContext'>>) {
  const host = textIn(objectIn(networkApprovalContext)?.host);
  const text = command == null ? '' : shellCommand(command);
  return { kind: 'command', command: text, ...present({ cwd: textIn(cwd), host }) } as const;
}

/** A patch whose paths nobody knows may be anywhere. */
const patchOf = (paths: readonly string[]) =>
  ({ kind: 'file-change', paths: paths.length === 0 ? ['/'] : paths }) as const;

/** Codex asks for a call of an MCP tool in the same way as a server asks for input. */
function elicitationOf(params: JsonObject, callOf: Questioned['callOf']): PolicyRequest {
  const server = textIn(params.serverName) ?? '';
  const meta = objectIn(params._meta) ?? {};
  const message = textIn(params.message) ?? textIn(params.description) ?? '';
  const tool = textIn(meta.tool_name) ?? textIn(meta.tool);
  const isCall = textIn(meta.codex_approval_kind) === 'mcp_tool_call' && tool !== undefined;
  const callId =
    (isCall ? callOf(server, tool) : textIn(params.elicitationId)) ??
    `${server}/${textIn(params.turnId) ?? 'no turn'}`;
  if (isCall) {
    return {
      callId,
      kind: 'tool',
      name: `mcp__${server}__${tool}`,
      input: meta.tool_params ?? null,
      reason: message,
    };
  }
  return { callId, kind: 'elicitation', server, message };
}

const pathsIn = (fileSystem: JsonValue | undefined): string[] => {
  const { read, write, entries } = objectIn(fileSystem) ?? {};
  const listed = [read, write].flatMap((list) => (Array.isArray(list) ? list : []));
  const named = objectsIn(entries).map(({ path }) => objectIn(path)?.path);
  return [...listed, ...named].filter((path) => typeof path === 'string');
};

const legacy = (decision: PolicyDecision['decision'], rule: string) =>
  decision === 'approved' ? ('approved' as const) : { denied: { rejection: `denied by ${rule}` } };
