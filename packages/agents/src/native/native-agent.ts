import type { AgentFacts, JsonObject, JsonValue } from '@whetstone/events';
import type { WireProtocol } from '@whetstone/gateway';
import type { z } from 'zod';
import type { TurnInput } from '../agent.ts';
import type { McpServer } from '../kit/declared-context.ts';
import type { Peer } from '../kit/dialogue.ts';
import type { InputItem } from '../kit/input-items.ts';
import type { EndedTurn, KeptRecord } from '../kit/kept-events.ts';
import type { McpLog } from '../kit/mcp-failures.ts';
import type { CreateMapper, MapperPlace, NativeMapper } from '../kit/native-mapper.ts';
import type { Enforcer, Enforces, Permissions } from '../policy/permissions.ts';
import type { DecidePolicy } from '../policy/policy.ts';
import type { SeenPlace } from '../policy/real-path.ts';

/** Everything that Whetstone knows of one released agent. Each has a folder, and a line in `native-agents.ts`. */
export type NativeAgent = {
  /** Its `kind:` in a configuration, which is also the name of its folder. */
  kind: string;
  /** Other names of the kind in a configuration. Default: none. */
  aliases?: readonly string[];
  facts: NativeFacts;
  /** Reads what the agent prints. Absent: it prints plain text. */
  stream?: StreamFormat;
  /** Reads the transcript that the agent writes. Absent: no transcript is known. */
  transcript?: TranscriptFormat;
  /**
   * Reads what the stream leaves out of a turn, from the files that the agent keeps. Rejects when events or usage cannot
   * be read; then the usage of the turn is unknown. Absent: the stream has everything.
   */
  keptEvents?: (turn: EndedTurn) => Promise<KeptRecord>;
  /** Where it writes that an MCP server did not start. Absent: its stream says so, or it takes no servers. */
  mcpLog?: McpLog;
  /** Of a protocol that several agents speak: those that Whetstone starts, by what `agent:` of a configuration names. */
  agents?: Readonly<Record<string, DrivenAgent>>;
  /** Leads a turn of a user's command that speaks this protocol. Absent: a command reads its prompt and ends. */
  commandDialogue?: (peer: Peer, turn: CommandTurn) => Promise<void>;
};

/** What the dialogue with a command has: whatever else it needs, such as its model, the command itself says. */
export type CommandTurn = Pick<
  DialogueTurn,
  'input' | 'resume' | 'workingDirectory' | 'mcpServers' | 'decide' | 'signal'
> &
  Partial<Pick<DialogueTurn, 'report'>> &
  // Where the files of this machine lie for the command. Default: under the same paths.
  Pick<Connection, 'place'>;

/** Leads one turn with a program that is asked and answers, such as a server; resolves when the turn is over. */
export type Dialogue = (peer: Peer, turn: DialogueTurn) => Promise<void>;

/** A released agent that Whetstone starts itself, without a command from the user. */
export type DrivenAgent = NativeAgent & {
  release: Release;
  launch: Launch;
  stream: StreamFormat;
  /** Checks the options of this kind only (`options:`), which reach the dialogue as they are written. Absent: it has none. */
  options?: z.ZodObject;
  /** The rules of a policy that this agent would not keep with these permissions. Default: none. */
  unkeptRules?: NonNullable<Enforcer['unkeptRules']>;
  /** How it works on a server that the user has started. Absent: Whetstone only drives what it starts itself. */
  attaches?: AttachFacts;
};

/**
 * A server of the user, which Whetstone neither configures nor ends. Its models, keys, environment, skills and MCP servers
 * are its own, so a result that it gave cannot be reproduced from the configuration (`reproducibility: external`).
 */
export type AttachFacts = {
  /** The option of the kind that names the address of the server. */
  option: string;
  /** What the agent can be held to there. */
  enforces: Enforces;
  /** How a model of the server is named. */
  model: { pattern: RegExp; example: string };
};

/** Facts about an agent, from running it in the versions of `tested-versions.json`. */
export type NativeFacts = {
  /** The file at the root of the workspace that gets instructions where the agent reads none yet. */
  instructions: string;
  /** What the agent reads at the root, in the order of its first request. Absent: unknown. */
  reads?: readonly InstructionFile[];
  /** Whether the agent also reads the files that an instruction file names as `@path`, relative to it. Default: no. */
  imports?: boolean;
  /** Whether the agent reads the same files in a folder below when it opens a file there. Default: no. */
  readsBelow?: boolean;
  /** Files and folders that the agent reads in every folder above the workspace. Default: none. */
  readsAbove?: readonly string[];
  /** A folder below the agent's home, which holds a folder per skill. Absent: the agent takes no skills. */
  skills?: string;
  /** The same folder below the root of a project. Default: `.agents/skills`, which most agents share. */
  projectSkills?: string;
  /** Whether `Launch.settings` can give it MCP servers. */
  mcpServers: boolean;
  /** Absent: the agent takes no plugins. */
  plugins?: PluginFacts;
  /** Whether the agent can make its answer fit a JSON Schema. */
  structuredOutput: boolean;
  /** How a later turn resumes the session of an earlier one. */
  sessions: 'session id' | 'command';
  /** How the agent signs in with a login of the user instead of an API key. Absent: no login is known. */
  login?: LoginFacts;
  /** The parts of a prompt that the agent takes as they are, besides text. Default: none, it gets them in words. */
  inputs?: readonly Exclude<InputItem['type'], 'text'>[];
  /** What the agent can be held to. Default: nothing, only the sandbox confines it. */
  enforces?: Enforces;
  /** It is led by a dialogue, but asks for no decision. Default: false. */
  asksNothing?: boolean;
  /** Whether the agent reads the instruction files of its workspace with these options. Default: it does. */
  readsWorkspace?: (options: JsonObject) => boolean;
  /** The setting that limits how often the agent repeats a failed model call. Absent: unknown. */
  retries?: { variable: string } | { setting: string };
};

/** A login of an agent's own program: where the user has it, and where its model calls go. */
export type LoginFacts = {
  /** Variables with a token, of which the first that is set counts; they come before the file, as in the program itself. */
  variables?: readonly string[];
  file?: {
    /** Below the user's home, and below the home of a case. */
    path: string;
    /** The user's variable that replaces a beginning of `path`, for example `.codex`. Absent: no variable does. */
    movedBy?: { variable: string; folder: string };
    /** The entries of the file of which one must be there. Default: any file will do. */
    entries?: readonly string[];
  };
  /** The base URL that the calls of a login go to, by wire. Empty: they speak no wire that the gateway reads. */
  upstreams: Partial<Record<WireProtocol, string>>;
  /** How a user signs in, as a command. */
  signIn: string;
  /** Why the program takes no login any more. Absent: it does. */
  ended?: string;
};

/** A file or folder with instructions, which an agent gives to its model without being asked. */
export type InstructionFile = {
  /** `/` separated. In a folder, the agent reads every Markdown file. */
  path: string;
  /** Files beside it that keep the agent from reading it. Default: none. */
  hiddenBy?: readonly string[];
};

export type PluginFacts = {
  /** Below the home, with `NAME` for the plugin's name: searched by the agent, or passed by `Launch.settings`. */
  folder: string;
  /** The files by which the agent recognizes a plugin; the first that exists counts. */
  manifests: readonly PluginManifest[];
};

/** A file of a plugin's folder by which an agent recognizes it. */
export type PluginManifest = {
  /** `/` separated, below the plugin's folder. */
  path: string;
  /** The content that only a plugin has, if other packages have the same file. Default: the file is enough. */
  holds?: { what: string; isIn: (content: Readonly<Record<string, unknown>>) => boolean };
};

/** The plugin folder for agents that get the path of each plugin. No agent searches this folder by itself. */
export const PASSED_PLUGINS = '.local/share/plugins/NAME';

export type StreamFormat = {
  /**
   * Opens a mapper for one turn. `before` is the mapper of the turn before, `new` for a new session, or `unread` if this
   * process did not read the turn before. Only agents that report the usage of the whole session need it; each has its
   * own default.
   */
  open: (place: MapperPlace, before?: NativeMapper | 'new' | 'unread') => NativeMapper;
  /** Finds the structured answer if the stream does not mark it. Default: the `data` of the mapper's summary. */
  answerIn?: (mapper: NativeMapper) => JsonValue | undefined;
};

export type TranscriptFormat =
  /** Files of JSON Lines; `pattern` is a glob below the agent's home. */
  | { kind: 'files'; pattern: string; createMapper: CreateMapper }
  /** One JSON document that the agent's program prints. */
  | { kind: 'printed'; args: (sessionId: string) => string[]; createMapper: CreateMapper };

/** The agent's npm package, and the API that it speaks. */
export type Release = {
  package: string;
  program: string;
  /** The kind whose installation this one shares, because both run the same program. Default: its own. */
  installedAs?: string;
  /**
   * The file to run, below the `node_modules` of an installation: a native program (`PLATFORM` is replaced, for example
   * by `linux-x64`; `*` is one folder) or a script for Node. Without the wrapper script, signals reach the agent itself.
   * An SDK has a module instead, and a program of ours that imports it: `bridge`, an export of this package.
   */
  entry: { native: string } | { script: string } | { module: string; bridge: string };
  /** The agent whose program an SDK starts, and does not bring. It is installed with the SDK. Default: the SDK brings it. */
  starts?: DrivenAgent;
  /** Variables that make a self-unpacking program unpack once, into this folder, and not into each new home. */
  unpacking?: (folder: string) => Record<string, string>;
  /** The wire of its calls with an API key, if the configuration names a model. */
  wire: WireProtocol;
  /** Why the agent has no model of its own with an API key. Absent: without `model`, it uses its own. */
  needsModel?: string;
};

/** How the agent is started. */
export type Launch = {
  settings: (connection: Connection) => LaunchSettings;
  /** Arguments of the program. It reads the prompt from standard input, because the length of an argument is limited. */
  turn: (turn: TurnRequest) => string[];
  /** What the program prints is the stream. Absent: the program reads the prompt to its end, and its exit ends the turn. */
  dialogue?: Dialogue;
  /** Whether the program of a dialogue stays for the next turn of its session. Default: it ends with each turn. */
  stays?: (options: JsonObject) => boolean;
};

/** What a dialogue needs for one turn. */
export type DialogueTurn = TurnRequest & {
  input: TurnInput;
  connection: Connection;
  /** Those of the connection. */
  mcpServers: readonly McpServer[];
  /** Answers what the agent asks a human, and reports the question and the decision as events. */
  decide: DecidePolicy;
  /** Aborts at the turn's time limit and with the run. The program is ended two seconds later. */
  signal: AbortSignal;
  /** Options of this kind only, as the configuration has them. */
  options: JsonObject;
  /** The variables that the program was started with. */
  env: Readonly<Record<string, string>>;
  /** Takes what the dialogue learns of the turn and its stream does not show. */
  report: (facts: AgentFacts) => void;
  log: (message: string) => void;
};

/** How an agent reaches its model, where its home is, and what it may use. */
export type Connection = {
  access: Access;
  /** Default: the agent's own. */
  model?: string;
  /** The agent's HOME in this run: absolute, used by nobody else, empty before `files` are written. */
  home: string;
  workingDirectory: string;
  /** Where these two lie on this machine. Default: where the agent sees them. */
  place?: SeenPlace;
  /** What the agent has to be held to: only values that `enforces` has, or the most open ones. */
  permissions: Permissions;
  /** The folder that `Release.unpacking` filled at installation. Default: none. */
  unpacked?: string;
  /** The program of `Release.starts`, as an absolute path. Default: none. */
  starts?: string;
  /** Options of this kind only. Default: none. */
  options?: JsonObject;
  /** MCP servers to start. Agents without MCP never get any. Default: none. */
  mcpServers?: readonly McpServer[];
  /** Plugins in the agent's home, each with the absolute path of its folder and the names of its servers. Default: none. */
  plugins?: readonly { name: string; folder: string; mcpServers?: readonly string[] }[];
};

/** How an agent reaches its model. `baseUrl`: of the gateway's lane or of a provider, without a version segment. */
export type Access =
  | { kind: 'key'; baseUrl: string; key: string }
  /**
   * The login's variables; its file is in the home already. Without `baseUrl`: the program's own address. A server of the
   * user has signed in already, and gets nothing.
   */
  | { kind: 'login'; baseUrl?: string; env: Record<string, string> };

/** Settings that make an agent talk only to the gateway, and use only its MCP servers and plugins. */
export type LaunchSettings = {
  env: Record<string, string>;
  /** Content of files, by path relative to `home`. */
  files: Record<string, string>;
  /** Arguments before the arguments of each turn. Default: none. */
  args?: string[];
};

/** One noninteractive turn. */
export type TurnRequest = {
  access: Access['kind'];
  /** Default: the agent's own. */
  model?: string;
  workingDirectory: string;
  permissions: Permissions;
  /** The agent's own id of the session to resume. */
  resume?: string;
  /** The JSON Schema that the answer must fit, as text and as the absolute path of a file. */
  outputSchema?: { text: string; file: string };
};
