import { isJsonObject, type JsonObject } from '@whetstone/events/json';
import { todoWriteTool } from '../tools/native/claude-code-tools.ts';
import type { RegisteredTool, ToolDefinition } from '../tools/tool.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { createAnthropicProfile } from './anthropic-profile.ts';
import { createGeminiProfile } from './gemini-profile.ts';
import { createOpenAiProfile } from './openai-profile.ts';
import type { ProfileOptions, ProviderProfile, SystemPromptParts } from './provider-profile.ts';
import { layerSystemPrompt } from './system-prompt.ts';

/** What a released agent sends to its model, taken from one of its requests. */
export type ProfileCapture = {
  /** Which wire the request was captured on. */
  wire: 'openai-responses' | 'openai-chat-completions' | 'anthropic-messages' | 'gemini-generate-content';
  model?: string | undefined;
  /** The blocks of the system prompt in their order, byte for byte. */
  systemPrompt: string | string[];
  /** The `tools` of the request as they stand in it. */
  tools: JsonObject[];
};

/** Options of `loadProfile`. */
export type LoadProfileOptions = Omit<ProfileOptions, 'model' | 'toolSet'> & {
  /** Default: the model of the capture. */
  model?: string;
  /** Tools of the host. They run the captured tools of their names in place of ours; only their executors are used. */
  tools?: readonly RegisteredTool[];
};

/** A profile that was made from a capture. */
export type LoadedProfile = {
  profile: ProviderProfile;
  /** Names of captured tools that nothing here can run. Requests leave them out. */
  unbound: string[];
};

/**
 * A profile that sends the model what a released agent sends: its captured system prompt and tool definitions. Tools
 * whose names this package knows run here. Instructions of the project and of the host follow the system prompt in a
 * block of their own. Throws a `TypeError` where `capture` is not one.
 */
export function loadProfile(capture: unknown, options: LoadProfileOptions = {}): LoadedProfile {
  const { wire, systemPrompt, tools, model: captured } = checkCapture(capture);
  const { tools: own = [], model = captured, ...profileOptions } = options;
  if (model === undefined)
    throw new TypeError('loadProfile: the capture has no model name. Pass `model` in the options.');

  const base = PROFILES[wire]({ ...profileOptions, model, toolSet: 'native' });
  const executors = executorsFor(wire, model, own);
  const unbound: string[] = [];
  const toolRegistry = new ToolRegistry();
  for (const { name, definition } of tools.flatMap((tool) => READERS[wire](tool))) {
    const executor = executors.get(name);
    if (definition && executor) toolRegistry.register({ ...executor, definition });
    else unbound.push(name);
  }
  const blocks = (parts: SystemPromptParts) => {
    const layers = layerSystemPrompt('', new ToolRegistry(), parts);
    return [...[systemPrompt].flat(), ...(layers === '' ? [] : [layers])];
  };
  const profile: ProviderProfile = {
    ...base,
    toolRegistry,
    tools: () => toolRegistry.definitions(),
    systemBlocks: blocks,
    buildSystemPrompt: (parts) => blocks(parts).join('\n\n'),
  };
  return { profile, unbound };
}

function checkCapture(capture: unknown): ProfileCapture {
  const problem = isJsonObject(capture) ? problemOf(capture) : 'it is not an object';
  if (problem === undefined) return capture as ProfileCapture;
  throw new TypeError(`loadProfile: this is not a capture of a request: ${problem}`);
}

function problemOf({ wire, model, systemPrompt, tools }: JsonObject): string | undefined {
  const isText = (value: unknown): boolean => typeof value === 'string';
  if (typeof wire !== 'string' || !Object.hasOwn(PROFILES, wire))
    return `wire is not one of ${Object.keys(PROFILES).join(', ')}`;
  if (model !== undefined && !isText(model)) return 'model is not a text';
  if (!isText(systemPrompt) && !(Array.isArray(systemPrompt) && systemPrompt.every(isText)))
    return 'systemPrompt is neither a text nor a list of texts';
  if (!Array.isArray(tools)) return 'tools is not a list';
  const wrong = tools.findIndex((tool) => !isJsonObject(tool));
  return wrong < 0 ? undefined : `tools[${wrong}] is not an object`;
}

type Wire = ProfileCapture['wire'];

const PROFILES: Readonly<Record<Wire, (options: ProfileOptions) => ProviderProfile>> = {
  'openai-responses': createOpenAiProfile,
  'openai-chat-completions': createOpenAiProfile,
  'anthropic-messages': createAnthropicProfile,
  'gemini-generate-content': createGeminiProfile,
};

/** Of one name, the released agent's tool comes before the spec's, and the host's before both. */
function executorsFor(
  wire: Wire,
  model: string,
  own: readonly RegisteredTool[],
): ReadonlyMap<string, RegisteredTool> {
  // Of the agents that speak Chat Completions, Qwen Code has the names of Gemini CLI, which it comes from.
  const createProfile = wire === 'openai-chat-completions' ? createGeminiProfile : PROFILES[wire];
  const families = (['spec', 'native'] as const).map((toolSet) => createProfile({ model, toolSet }));
  const earlier = wire === 'anthropic-messages' ? [todoWriteTool] : [];
  const all = [...earlier, ...families.flatMap(({ toolRegistry }) => [...toolRegistry]), ...own];
  return new Map(all.map((tool) => [tool.definition.name, tool]));
}

type CapturedTool = { name: string; definition: ToolDefinition | undefined };

/** What each wire calls a tool. `definition` is absent for one that runs at the provider. */
const READERS: Readonly<Record<Wire, (tool: JsonObject) => CapturedTool[]>> = {
  'openai-responses': (tool) => [responsesTool(tool)],
  'openai-chat-completions': (tool) => {
    const definition = isJsonObject(tool.function) ? tool.function : tool;
    return [functionTool(definition, definition.parameters)];
  },
  'anthropic-messages': (tool) => [functionTool(tool, tool.input_schema)],
  'gemini-generate-content': (tool) => {
    const declarations = tool.functionDeclarations;
    if (!Array.isArray(declarations))
      return Object.keys(tool).map((name) => ({ name, definition: undefined }));
    return declarations
      .filter(isJsonObject)
      .map((one) => functionTool(one, one.parametersJsonSchema ?? one.parameters));
  },
};

function responsesTool(tool: JsonObject): CapturedTool {
  if (tool.type === 'function') return functionTool(tool, tool.parameters);
  // `tool_search` and its like have parameters too, and are answered by the provider.
  if (tool.type !== 'custom') return { name: text(tool.name) || text(tool.type), definition: undefined };
  const name = text(tool.name);
  const format = isJsonObject(tool.format) ? tool.format : {};
  const { syntax } = format;
  if (format.type !== 'grammar' || (syntax !== 'lark' && syntax !== 'regex'))
    return { name, definition: undefined };
  const definition: ToolDefinition = {
    type: 'freeform',
    name,
    description: text(tool.description),
    grammar: { syntax, definition: text(format.definition) },
    argument: { name: 'input', description: 'The text of the call' },
  };
  return { name, definition };
}

function functionTool(tool: JsonObject, schema: unknown): CapturedTool {
  const name = text(tool.name) || text(tool.type) || '(unnamed)';
  if (!isJsonObject(schema)) return { name, definition: undefined };
  return { name, definition: { name, description: text(tool.description), parameters: schema } };
}

function text(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
