import type { JsonValue, StreamEvent } from '@whetstone/events';
import type { WireProtocol } from '@whetstone/gateway';
import type { McpServer } from '../kit/declared-context.ts';
import type { EndedTurn } from '../kit/kept-events.ts';
import type { CreateMapper, MapperPlace, NativeMapper } from '../kit/native-mapper.ts';

/** Everything that Whetstone knows of one released agent. Each has a folder, and a line in `native-agents.ts`. */
export type NativeAgent = {
  /** Its `kind:` in a configuration, which is also the name of its folder. */
  kind: string;
  facts: NativeFacts;
  /** Reads what the agent prints. Absent: it prints text for people. */
  stream?: StreamFormat;
  /** Reads what the agent keeps of its sessions. Absent: nothing that is known. */
  transcript?: TranscriptFormat;
  /**
   * What the agent and its sub-agents did and used in a turn, and its stream leaves out: read from what it keeps.
   * Rejects when that cannot be read; the usage of the turn is unknown then. Absent: the stream has it all.
   */
  keptEvents?: (turn: EndedTurn) => Promise<StreamEvent[]>;
};

/** A released agent that Whetstone starts itself, without a command from the user. */
export type DrivenAgent = NativeAgent & {
  release: Release;
  launch: Launch;
  stream: StreamFormat;
};

/** What is known of an agent, from running it (the versions are those of `tested-versions.json`). */
export type NativeFacts = {
  /** A file at the root of the workspace. */
  instructions: string;
  /** A folder below the agent's home, which holds a folder per skill. Absent: the agent takes no skills. */
  skills?: string;
  /** Whether `Launch.settings` can give it MCP servers. */
  mcpServers: boolean;
  /** Absent: the agent takes no plugins. */
  plugins?: PluginFacts;
  /** Whether it can hold its answer to a JSON Schema. */
  structuredOutput: boolean;
  /** How a later turn resumes the session of an earlier one. */
  sessions: 'session id' | 'command';
  /** How it signs in without an API key. Absent: not known, or it cannot. */
  login?: { file: string /** Below the agent's home. */ } | { variable: string };
  /** The setting that bounds how often it repeats a failed model call. Absent: none is known. */
  retries?: { variable: string } | { setting: string };
};

export type PluginFacts = {
  /**
   * The folder of a plugin below the agent's home, with `NAME` for the name of the plugin. The agent looks there, or
   * `Launch.settings` names the folder.
   */
  folder: string;
  /** The files by which the agent recognizes a plugin; the first that exists counts. */
  manifests: readonly PluginManifest[];
};

/** A file of a plugin's folder by which an agent recognizes it. */
export type PluginManifest = {
  /** `/` separated, below the plugin's folder. */
  path: string;
  /** For a file that other packages have too: the content that only a plugin has. Default: the file is enough. */
  holds?: { what: string; isIn: (content: Readonly<Record<string, unknown>>) => boolean };
};

/** Where agents look that are given the path of each plugin: no agent searches this folder by itself. */
export const PASSED_PLUGINS = '.local/share/plugins/NAME';

export type StreamFormat = {
  /**
   * Opens a mapper for one turn. `before` is what read the turn before: `new` for a new session, `unread` when this
   * process did not read it. Only agents that report the usage of the whole session look at it; each has its own default.
   */
  open: (place: MapperPlace, before?: NativeMapper | 'new' | 'unread') => NativeMapper;
  /** For an agent whose stream does not mark the answer to a schema: finds it. Default: the mapper's `data`. */
  answerIn?: (mapper: NativeMapper) => JsonValue | undefined;
};

export type TranscriptFormat =
  /** Files of JSON Lines; `pattern` is a glob below the agent's home. */
  | { kind: 'files'; pattern: string; createMapper: CreateMapper }
  /** One JSON document that the agent's program prints. */
  | { kind: 'printed'; args: (sessionId: string) => string[]; createMapper: CreateMapper };

/** How the agent comes from npm, and which API it speaks. */
export type Release = {
  /** Its npm package. */
  package: string;
  /** Its name on the PATH. */
  program: string;
  /**
   * What runs, below the `node_modules` of an installation: a native program (`PLATFORM` is replaced, for example by
   * `linux-x64`; `*` is one folder) or a script for Node. Without the wrapper script a signal reaches the agent itself.
   */
  entry: { native: string } | { script: string };
  /** For a program that unpacks itself into each new home: the variables that make it do so once, into this folder. */
  unpacking?: (folder: string) => Record<string, string>;
  wire: WireProtocol;
  /** A model that the agent knows, for runs whose model is a script. */
  defaultModel: string;
};

/** How the agent is started. */
export type Launch = {
  settings: (connection: Connection) => LaunchSettings;
  /**
   * Arguments after the program, and its standard input: the prompt, when the agent reads the prompt there, because the
   * length of an argument is limited.
   */
  turn: (turn: TurnRequest) => { args: string[]; stdin?: string };
};

/** Where an agent finds its model, and where it may keep its own files. */
export type Connection = {
  /** Of the gateway's lane, without a version segment. */
  baseUrl: string;
  key: string;
  model: string;
  /** The agent's HOME of this run: absolute, its own, empty before `files` are written. */
  home: string;
  workingDirectory: string;
  /** A folder with what `Release.unpacking` put there at the installation. Default: there is none. */
  unpacked?: string;
  /** What to offer the model besides the agent's own tools; agents without MCP are never given any. Default: none. */
  mcpServers?: readonly McpServer[];
  /** Plugins that are in the home, each in a folder with its absolute path. Default: none. */
  plugins?: readonly { name: string; folder: string }[];
};

/** What makes an agent talk only to the gateway, start the MCP servers and load the plugins that it is given. */
export type LaunchSettings = {
  env: Record<string, string>;
  /** Below `home`, by relative path. */
  files: Record<string, string>;
  /** Before those of each turn. Default: none. */
  args?: string[];
};

/** One noninteractive turn. */
export type TurnRequest = {
  prompt: string;
  model: string;
  workingDirectory: string;
  /** The agent's own id of the session to resume. */
  resume?: string;
  /** What the answer has to fit: the JSON Schema as text, and the absolute path of a file that holds it. */
  outputSchema?: { text: string; file: string };
};
