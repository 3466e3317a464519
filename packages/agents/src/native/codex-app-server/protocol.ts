// Of codex-cli 0.169.0: written by the test protocol.agents.test.ts with -u. Do not edit it.

export type AbsolutePathBuf = string;

export type AdditionalFileSystemPermissions = {
  read: Array<LegacyAppPathString> | null;
  write: Array<LegacyAppPathString> | null;
  globScanMaxDepth?: number;
  entries?: Array<FileSystemSandboxEntry>;
};

export type AdditionalNetworkPermissions = { enabled: boolean | null };

export type ApplyPatchApprovalParams = {
  conversationId: ThreadId;
  callId: string;
  fileChanges: { [key in string]?: FileChange };
  reason: string | null;
};

export type ApplyPatchApprovalResponse = { decision: ReviewDecision };

export type AskForApproval =
  | 'untrusted'
  | 'on-request'
  | {
      granular: {
        sandbox_approval: boolean;
        rules: boolean;
        skill_approval: boolean;
        request_permissions: boolean;
        mcp_elicitations: boolean;
      };
    }
  | 'never';

export type ByteRange = { start: number; end: number };

export type ClientInfo = { name: string; title: string | null; version: string };

export type CollaborationMode = { mode: ModeKind; settings: Settings };

export type CommandExecutionApprovalDecision =
  | 'accept'
  | 'acceptForSession'
  | { acceptWithExecpolicyAmendment: { execpolicy_amendment: ExecPolicyAmendment } }
  | { applyNetworkPolicyAmendment: { network_policy_amendment: NetworkPolicyAmendment } }
  | 'decline'
  | 'cancel';

export type CommandExecutionRequestApprovalParams = {
  itemId: string;
  reason?: string | null;
  command?: string | null;
  cwd?: LegacyAppPathString | null;
  networkApprovalContext?: NetworkApprovalContext | null;
};

export type CommandExecutionRequestApprovalResponse = { decision: CommandExecutionApprovalDecision };

export type CurrentTimeReadResponse = { currentTimeAt: number };

export type DynamicToolCallOutputContentItem =
  | { type: 'inputText'; text: string }
  | { type: 'inputImage'; imageUrl: string }
  | { type: 'inputAudio'; audioUrl: string };

export type DynamicToolCallParams = {
  threadId: string;
  turnId: string;
  callId: string;
  namespace: string | null;
  tool: string;
  arguments: JsonValue;
};

export type DynamicToolCallResponse = {
  contentItems: Array<DynamicToolCallOutputContentItem>;
  success: boolean;
};

export type ExecCommandApprovalParams = {
  conversationId: ThreadId;
  callId: string;
  command: Array<string>;
  cwd: string;
  reason: string | null;
};

export type ExecCommandApprovalResponse = { decision: ReviewDecision };

export type ExecPolicyAmendment = Array<string>;

export type FileChange =
  | { type: 'add'; content: string }
  | { type: 'delete'; content: string }
  | { type: 'update'; unified_diff: string; move_path: string | null };

export type FileChangeApprovalDecision = 'accept' | 'acceptForSession' | 'decline' | 'cancel';

export type FileChangeRequestApprovalParams = {
  threadId: string;
  turnId: string;
  itemId: string;
  startedAtMs: number;
  reason?: string | null;
  grantRoot?: string | null;
};

export type FileChangeRequestApprovalResponse = { decision: FileChangeApprovalDecision };

export type FileSystemAccessMode = 'read' | 'write' | 'deny';

export type FileSystemPath =
  | { type: 'path'; path: LegacyAppPathString }
  | { type: 'glob_pattern'; pattern: string }
  | { type: 'special'; value: FileSystemSpecialPath };

export type FileSystemSandboxEntry = { path: FileSystemPath; access: FileSystemAccessMode };

export type FileSystemSpecialPath =
  | { kind: 'root' }
  | { kind: 'minimal' }
  | { kind: 'project_roots'; subpath: LegacyAppPathString | null }
  | { kind: 'tmpdir' }
  | { kind: 'slash_tmp' }
  | { kind: 'unknown'; path: string; subpath: LegacyAppPathString | null };

export type GrantedPermissionProfile = {
  network?: AdditionalNetworkPermissions;
  fileSystem?: AdditionalFileSystemPermissions;
};

export type ImageDetail = 'auto' | 'low' | 'high' | 'original';

export type InitializeCapabilities = { experimentalApi: boolean };

export type InitializeParams = { clientInfo: ClientInfo; capabilities: InitializeCapabilities | null };

export type JsonValue = number | string | boolean | Array<JsonValue> | { [key in string]?: JsonValue } | null;

export type LegacyAppPathString = string;

export type McpServerElicitationAction = 'accept' | 'decline' | 'cancel';

export type McpServerElicitationRequestResponse = {
  action: McpServerElicitationAction;
  content: JsonValue | null;
  _meta: JsonValue | null;
};

export type ModeKind = 'plan' | 'default';

export type NetworkAccess = 'restricted' | 'enabled';

export type NetworkApprovalContext = { host: string; protocol: NetworkApprovalProtocol };

export type NetworkApprovalProtocol = 'http' | 'https' | 'socks5Tcp' | 'socks5Udp';

export type NetworkPolicyAmendment = { host: string; action: NetworkPolicyRuleAction };

export type NetworkPolicyRuleAction = 'allow' | 'deny';

export type PermissionGrantScope = 'turn' | 'session';

export type PermissionsRequestApprovalParams = {
  threadId: string;
  turnId: string;
  itemId: string;
  environmentId: string | null;
  startedAtMs: number;
  cwd: LegacyAppPathString;
  reason: string | null;
  permissions: RequestPermissionProfile;
};

export type PermissionsRequestApprovalResponse = {
  permissions: GrantedPermissionProfile;
  scope: PermissionGrantScope;
  strictAutoReview?: boolean;
};

export type ReasoningEffort = string;

export type ReasoningSummary = 'auto' | 'concise' | 'detailed' | 'none';

export type RequestPermissionProfile = {
  network: AdditionalNetworkPermissions | null;
  fileSystem: AdditionalFileSystemPermissions | null;
};

export type ReviewDecision =
  | 'approved'
  | { approved_execpolicy_amendment: { proposed_execpolicy_amendment: ExecPolicyAmendment } }
  | 'approved_for_session'
  | 'approved_mcp_policy_amendment'
  | { network_policy_amendment: { network_policy_amendment: NetworkPolicyAmendment } }
  | { denied: { rejection: string } }
  | 'timed_out'
  | 'abort';

export type ReviewDelivery = 'inline';

export type ReviewStartParams = { threadId: string; target: ReviewTarget; delivery?: ReviewDelivery | null };

export type ReviewTarget =
  | { type: 'uncommittedChanges' }
  | { type: 'baseBranch'; branch: string }
  | { type: 'commit'; sha: string; title: string | null }
  | { type: 'custom'; instructions: string };

export type SandboxMode = 'read-only' | 'workspace-write' | 'danger-full-access';

export type SandboxPolicy =
  | { type: 'dangerFullAccess' }
  | { type: 'readOnly'; networkAccess: boolean }
  | { type: 'externalSandbox'; networkAccess: NetworkAccess }
  | {
      type: 'workspaceWrite';
      writableRoots: Array<AbsolutePathBuf>;
      networkAccess: boolean;
      excludeTmpdirEnvVar: boolean;
      excludeSlashTmp: boolean;
    };

export type Settings = {
  model: string;
  reasoning_effort: ReasoningEffort | null;
  developer_instructions: string | null;
};

export type TextElement = { byteRange: ByteRange; placeholder: string | null };

export type ThreadArchiveParams = { threadId: string };

export type ThreadForkParams = {
  threadId: string;
  excludeTurns?: boolean;
  lastTurnId?: string | null;
  model?: string | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandbox?: SandboxMode | null;
  config?: { [key in string]?: JsonValue } | null;
};

export type ThreadId = string;

export type ThreadResumeParams = {
  threadId: string;
  excludeTurns?: boolean;
  model?: string | null;
  serviceTier?: string | null | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandbox?: SandboxMode | null;
  config?: { [key in string]?: JsonValue } | null;
};

export type ThreadStartParams = {
  model?: string | null;
  serviceTier?: string | null | null;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandbox?: SandboxMode | null;
  config?: { [key in string]?: JsonValue } | null;
  baseInstructions?: string | null;
  developerInstructions?: string | null;
  ephemeral?: boolean | null;
};

export type ThreadTokenUsage = {
  total: TokenUsageBreakdown;
  last: TokenUsageBreakdown;
  modelContextWindow: number | null;
};

export type ThreadUnarchiveParams = { threadId: string };

export type ThreadUnsubscribeParams = { threadId: string };

export type TokenUsageBreakdown = {
  totalTokens: number;
  inputTokens: number;
  cachedInputTokens: number;
  cacheWriteInputTokens: number;
  outputTokens: number;
  reasoningOutputTokens: number;
};

export type ToolRequestUserInputAnswer = { answers: Array<string> };

export type ToolRequestUserInputOption = { label: string; description: string };

export type ToolRequestUserInputParams = {
  threadId: string;
  turnId: string;
  itemId: string;
  questions: Array<ToolRequestUserInputQuestion>;
  isBlocking: boolean;
  autoResolutionMs: number | null;
};

export type ToolRequestUserInputQuestion = {
  id: string;
  header: string;
  question: string;
  isOther: boolean;
  isSecret: boolean;
  options: Array<ToolRequestUserInputOption> | null;
};

export type ToolRequestUserInputResponse = { answers: { [key in string]?: ToolRequestUserInputAnswer } };

export type TurnInterruptParams = { threadId: string; turnId: string };

export type TurnStartParams = {
  threadId: string;
  input: Array<UserInput>;
  cwd?: string | null;
  approvalPolicy?: AskForApproval | null;
  sandboxPolicy?: SandboxPolicy | null;
  model?: string | null;
  serviceTier?: string | null | null;
  effort?: ReasoningEffort | null;
  summary?: ReasoningSummary | null;
  outputSchema?: JsonValue | null;
  collaborationMode?: CollaborationMode | null;
};

export type TurnStatus = 'completed' | 'interrupted' | 'failed' | 'inProgress';

export type TurnSteerParams = { threadId: string; input: Array<UserInput>; expectedTurnId: string };

export type UserInput =
  | { type: 'text'; text: string; text_elements: Array<TextElement> }
  | ({ type: 'image'; detail?: ImageDetail } & ({ url: string } | { fileId: string }))
  | { type: 'localImage'; detail?: ImageDetail; path: string }
  | ({ type: 'audio' } & ({ url: string } | { fileId: string }))
  | { type: 'localAudio'; path: string }
  | { type: 'skill'; name: string; path: string }
  | { type: 'mention'; name: string; path: string };
