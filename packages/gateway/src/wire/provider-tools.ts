import { isJsonObject, type JsonObject } from '@whetstone/events';
import { objectAt, objectsAt, stringAt } from './json-reading.ts';
import type { WireProtocol } from './neutral.ts';
import { type Strips, withoutAddresses } from './provider-fetch.ts';

/**
 * Removes the tools from a request that run at the provider and reach the outside from there (search, fetching, code,
 * remote MCP servers, other models), and every choice of such a tool. Tools that the provider defines and the agent
 * runs (a shell, a computer, an editor) stay, and so does a search among the request's own tools. Addresses that the
 * provider would fetch are such a tool: `withoutAddresses`.
 * @returns the request (the same object when nothing was removed), and what was removed by its name in the request: its
 * type or its field.
 */
export function stripProviderTools(
  wire: WireProtocol,
  raw: JsonObject,
  isAllowed: (tool: string) => boolean,
) {
  const stripped: string[] = [];
  const strips = (name: string): boolean => {
    const strip = !isAllowed(name);
    if (strip && !stripped.includes(name)) stripped.push(name);
    return strip;
  };
  const without = withoutAddresses(wire, withoutTools[wire](raw, strips), strips);
  return { raw: stripped.length === 0 ? raw : without, stripped };
}

/** Whether a lane allows a tool: by its name, or by its name without the version and anything after it. */
export const allowsTool =
  (allowed: true | readonly string[]) =>
  (tool: string): boolean =>
    allowed === true || allowed.some((name) => tool === name || tool.startsWith(`${name}_`));

/** Fields of a request that are a provider's tool. */
export const providerToolFields = (wire: WireProtocol, raw: JsonObject): string[] =>
  (fields[wire] ?? []).filter((field) => raw[field] !== undefined && raw[field] !== null);

const fields: Partial<Record<WireProtocol, string[]>> = {
  'openai-chat-completions': ['web_search_options'],
  'anthropic-messages': ['mcp_servers'],
};

const withoutTools: Record<WireProtocol, (raw: JsonObject, strips: Strips) => JsonObject> = {
  'openai-responses': withoutResponsesTools,
  'openai-chat-completions': (raw, strips) =>
    withoutListedTools(withoutFields('openai-chat-completions', raw, strips), openaiTypes, strips),
  'anthropic-messages': (raw, strips) =>
    withoutListedTools(withoutFields('anthropic-messages', raw, strips), anthropicTypes, strips),
  'gemini-generate-content': withoutGeminiTools,
};

const openaiTypes =
  /^(web_search|file_search|code_interpreter|image_generation|mcp|programmatic_tool_calling)(_|$)/;
const anthropicTypes = /^(web_search|web_fetch|code_execution|mcp_toolset|advisor)(_|$)/;

function withoutFields(wire: WireProtocol, raw: JsonObject, strips: Strips): JsonObject {
  const stripped = providerToolFields(wire, raw).filter(strips);
  return stripped.length === 0 ? raw : omit(raw, ...stripped);
}

function withoutListedTools(raw: JsonObject, types: RegExp, strips: Strips): JsonObject {
  const { kept, gone } = divide(objectsAt(raw, 'tools'), types, strips);
  if (gone.length === 0) return raw;
  if (kept.length === 0) return omit(raw, 'tools', 'tool_choice', 'parallel_tool_calls');
  return withChoiceAmong(kept, gone, { ...raw, tools: kept });
}

function withoutResponsesTools(raw: JsonObject, strips: Strips): JsonObject {
  const without = withoutListedTools(raw, openaiTypes, strips);
  // Codex offers some of its tools in the conversation.
  const input = objectsAt(raw, 'input').map((item) => {
    if (stringAt(item, 'type') !== 'additional_tools') return item;
    const { kept, gone } = divide(objectsAt(item, 'tools'), openaiTypes, strips);
    return gone.length === 0 ? item : { ...item, tools: kept };
  });
  return Array.isArray(raw.input) ? { ...without, input } : without;
}

function divide(
  tools: JsonObject[],
  types: RegExp,
  strips: Strips,
): { kept: JsonObject[]; gone: JsonObject[] } {
  const { kept = [], gone = [] } = Object.groupBy(tools, (tool) => {
    const type = stringAt(tool, 'type');
    return (types.test(type) || isHostedShell(tool)) && strips(type) ? 'gone' : 'kept';
  });
  return { kept, gone };
}

/** OpenAI's `shell` runs in a container of the provider, or with the agent if it says `local`. */
const isHostedShell = (tool: JsonObject): boolean =>
  tool.type === 'shell' && stringAt(objectAt(tool, 'environment'), 'type').startsWith('container');

/** A choice of a removed tool is removed, so that the model chooses. Removed tools also leave a list of allowed tools. */
function withChoiceAmong(kept: JsonObject[], gone: JsonObject[], request: JsonObject): JsonObject {
  const { tool_choice: choice } = request;
  if (!isJsonObject(choice)) return request;
  const isGone = (chosen: JsonObject): boolean =>
    !kept.some((tool) => isSame(tool, chosen)) && gone.some((tool) => isSame(tool, chosen));
  if (stringAt(choice, 'type') !== 'allowed_tools')
    return isGone(choice) ? omit(request, 'tool_choice') : request;
  const listed = objectsAt(choice, 'tools');
  const tools = listed.filter((chosen) => !isGone(chosen));
  if (tools.length === listed.length) return request;
  return { ...request, tool_choice: tools.length === 0 ? 'none' : { ...choice, tools } };
}

/** Anthropic's choice has the tool's name. OpenAI's has its type, with the label for an MCP server. */
function isSame(tool: JsonObject, chosen: JsonObject): boolean {
  if (stringAt(chosen, 'type') === 'tool') return tool.name === chosen.name;
  return tool.type === chosen.type && tool.server_label === chosen.server_label;
}

/** One entry of Gemini's `tools` may declare functions beside the provider's tools. */
function withoutGeminiTools(raw: JsonObject, strips: Strips): JsonObject {
  // A token count may wrap the request whose tokens it counts.
  if (isJsonObject(raw.generateContentRequest)) {
    return { ...raw, generateContentRequest: withoutGeminiTools(raw.generateContentRequest, strips) };
  }
  const tools = objectsAt(raw, 'tools').flatMap((tool) => {
    const gone = Object.keys(tool).filter((name) => geminiTools.has(camelCase(name)) && strips(name));
    const kept = omit(tool, ...gone);
    return gone.length > 0 && Object.keys(kept).length === 0 ? [] : [kept];
  });
  return tools.length === 0 ? omit(raw, 'tools') : { ...raw, tools };
}

const geminiTools = new Set([
  'codeExecution',
  'enterpriseWebSearch',
  'exaAiSearch',
  'fileSearch',
  'googleMaps',
  'googleSearch',
  'googleSearchRetrieval',
  'mcpServers',
  'parallelAiSearch',
  'retrieval',
  'urlContext',
]);

/** Google accepts field names in both forms. */
const camelCase = (name: string): string => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

const omit = (object: JsonObject, ...names: string[]): JsonObject =>
  Object.fromEntries(Object.entries(object).filter(([name]) => !names.includes(name)));
