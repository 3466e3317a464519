import type { JsonValue, StreamEvent } from '@whetstone/events';
import type { WireProtocol } from '@whetstone/gateway';
import type { McpServer } from '../kit/declared-context.ts';
import type { EndedTurn } from '../kit/kept-events.ts';
import type { MapperPlace, NativeMapper } from '../kit/native-mapper.ts';
import type { CliAgentKind } from './kinds.ts';

/** Where a command line finds its model, and where it may keep its own things. */
export type CliConnection = {
  /** Of the gateway's lane, without a version segment. */
  baseUrl: string;
  key: string;
  model: string;
  /** The agent's HOME of this run: absolute, its own, empty before `files` are written. */
  home: string;
  workingDirectory: string;
  /** A folder with what `CliAgent.unpacking` put there at the installation. Default: there is none. */
  unpacked?: string;
  /** What to offer the model besides the agent's own tools; kinds without MCP are never given any. Default: none. */
  mcpServers?: readonly McpServer[];
  /** Plugins that are in the home, each in a folder with its absolute path. Default: none. */
  plugins?: readonly { name: string; folder: string }[];
};

/** What makes a command line talk to the gateway alone, start the MCP servers and load the plugins that it is given. */
export type CliSettings = {
  env: Record<string, string>;
  /** Below `home`, by relative path. */
  files: Record<string, string>;
  /** Before those of each turn. Default: none. */
  args?: string[];
};

/** One noninteractive turn. */
export type CliTurn = {
  prompt: string;
  model: string;
  workingDirectory: string;
  /** The agent's own id of the session to go on with. */
  resume?: string;
  /** What the answer has to fit: the JSON Schema as text, and an absolute path where it lies. */
  outputSchema?: { text: string; file: string };
};

/** How one released command line is driven: the row that a new one adds. */
export type CliAgent = {
  kind: CliAgentKind;
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
  /** A model that it knows, for runs whose model is a script. */
  defaultModel: string;
  settings: (connection: CliConnection) => CliSettings;
  /**
   * Arguments after `program`, and its standard input: the prompt, where it reads one there, as the length of an argument is
   * limited.
   */
  turn: (turn: CliTurn) => { args: string[]; stdin?: string };
  /**
   * For an agent whose usage is that of the whole session: reads a turn's output, knowing what read the one before, or
   * that there is none (`new`), or that it was read elsewhere (`unread`). Default: the mapper of its kind.
   */
  openStream?: (place: MapperPlace, before: NativeMapper | 'new' | 'unread') => NativeMapper;
  /**
   * What the agent and its sub-agents did and used in a turn, and its stream leaves out: read from what it keeps. Rejects
   * where that cannot be read; nobody knows the turn's usage then. Default: the stream has it all.
   */
  keptEvents?: (turn: EndedTurn) => Promise<StreamEvent[]>;
  /** For an agent whose stream does not set an answer to a schema apart from what else it says. */
  answerIn?: (mapper: NativeMapper) => JsonValue | undefined;
};
