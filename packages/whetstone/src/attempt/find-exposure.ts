import type { DeclaredContext, DeclaredPlugin, DeclaredSkill } from '@whetstone/agents';
import {
  isJsonObject,
  type JsonObject,
  type JsonValue,
  type StreamEvent,
  type StreamEventOf,
} from '@whetstone/events';
import type { Exposure, FirstUse } from '../record/exposure-schema.ts';
import { estimateTokens, evened, serverOfTool, skillBody, tellingLine } from './declared-text.ts';
import { pluginSkill, type RequestSight } from './watch-requests.ts';

/**
 * Finds what an agent saw of the declared context, from its events and the requests that a gateway saw. A text counts
 * as read when a result holds it, else when a completed call names its file. `undefined`: nothing is declared.
 */
export function findExposure(
  declared: DeclaredContext,
  events: readonly StreamEvent[],
  {
    sight,
    instructionsPath = '',
  }: { sight: RequestSight | undefined; instructionsPath?: string | undefined },
): Exposure | undefined {
  const { instructions, skills, mcpServers, plugins } = declared;
  if (instructions === undefined && [...skills, ...mcpServers, ...plugins].length === 0) return undefined;
  const calls = callsIn(events);
  const loaded = events.filter((event) => event.type === 'skill.loaded').map(({ skill }) => skill);
  const seen = sight && sight.requests > 0 ? sight : undefined;
  const servers = mcpServers.map(({ name }) => name);
  const exposureOf = (skill: SkillText, key: string) => ({
    name: skill.name,
    listed: seen ? seen.skills.has(key) : null,
    ...useOfSkill(skill, calls, loaded),
  });
  return {
    instructions:
      instructions === undefined
        ? null
        : {
            path: instructionsPath,
            in_requests: seen ? (seen.instructions?.extent ?? 'no') : null,
            first_call: seen?.instructions?.call ?? null,
            read: firstOf(firstRead(calls, instructions, instructionsPath)),
            tokens_estimate: estimateTokens(instructions),
          },
    skills: skills.map((skill) => exposureOf(skill, skill.name)),
    mcp_servers: servers.map((name) => ({
      name,
      offered: seen ? seen.mcpServers.has(name) : null,
      ...useOfServer(calls.filter((call) => serverOfTool(call.name, servers) === name)),
    })),
    plugins: plugins.map((plugin) => ({
      name: plugin.name,
      version: plugin.version ?? null,
      loaded: wasLoaded(plugin, events, seen),
      skills: plugin.skills.map((skill) => exposureOf(skill, pluginSkill(plugin, skill))),
    })),
  };
}

/** Not seeing a plugin means something only when the plugin has parts that every agent lists to its model. */
function wasLoaded(plugin: DeclaredPlugin, events: readonly StreamEvent[], seen?: RequestSight) {
  const { name, skills, mcpServers } = plugin;
  const isNamed = events.some((event) => event.type === 'session.started' && event.plugins?.includes(name));
  if (isNamed || seen?.plugins.has(name)) return true;
  return seen && [...skills, ...mcpServers].length > 0 ? false : null;
}

type Call = {
  name: string;
  input: JsonValue;
  /** Index of its `action.called`. */
  index: number;
  at: string | null;
  callId: string;
  /** All texts of the result; empty without a result. */
  output: string;
  /** `output` with its white space evened out. */
  said: string;
  result?: StreamEventOf<'action.result'>;
};

function callsIn(events: readonly StreamEvent[]): Call[] {
  const calls = new Map<string, Call>();
  for (const [index, event] of events.entries()) {
    if (event.type === 'action.called') {
      const { name, input, callId, at = null } = event;
      calls.set(callId, { name, input, callId, index, at, output: '', said: '' });
    } else if (event.type === 'action.result') {
      const call = calls.get(event.callId);
      if (!call) continue;
      const output = textOf(event.output);
      Object.assign(call, { result: event, output, said: evened(output) });
    }
  }
  return [...calls.values()];
}

type SkillText = Pick<DeclaredSkill, 'name' | 'text'>;

function useOfSkill({ name, text }: SkillText, calls: readonly Call[], loaded: readonly string[]) {
  const line = tellingLine(skillBody(text)) || tellingLine(text);
  const file = `${name}/SKILL.md`;
  const asks = (call: Call) => loads(call, name) || names(call, file);
  const confirmed = calls.find((call) => call.said.includes(line) || (succeeded(call.result) && asks(call)));
  if (confirmed) {
    // Some agents answer the call with one word and put the skill into a separate message.
    const got = confirmed.said.includes(line) ? confirmed.output : text;
    const first = firstOf(confirmed);
    return { triggered: 'confirmed' as const, first, tokens_estimate: estimateTokens(got) };
  }
  const first = firstOf(calls.find(asks));
  // An adapter may report the load and not the call behind it.
  if (loaded.some((skill) => isSkill(skill, name))) {
    return { triggered: 'confirmed' as const, first, tokens_estimate: estimateTokens(text) };
  }
  return { triggered: first ? ('attempted' as const) : ('no' as const), first, tokens_estimate: null };
}

function useOfServer(calls: readonly Call[]) {
  return {
    calls: calls.length,
    failures: calls.filter(({ result }) => result && !succeeded(result)).length,
    first: firstOf(calls[0]),
    tokens_estimate: estimateTokens(calls.map(({ output }) => output).join('')),
  };
}

/** Some agents write the plugin before the name of the skill. */
const isSkill = (skill: string, wanted: string): boolean => skill === wanted || skill.endsWith(`:${wanted}`);

/** Whether a call uses the skill tool for this skill. */
function loads({ name, input }: Call, wanted: string): boolean {
  const { skill } = fieldsOf(input);
  return name === 'load_skill' && isSkill(textOf(skill), wanted);
}

const fieldsOf = (value: JsonValue | undefined): JsonObject => (isJsonObject(value) ? value : {});

/** The first call whose result holds the text, however it ended. For an empty result, the path in the input counts. */
function firstRead(calls: readonly Call[], text: string, path: string): Call | undefined {
  const line = tellingLine(text);
  return calls.find(
    (call) => call.said.includes(line) || (call.said === '' && succeeded(call.result) && names(call, path)),
  );
}

/** Names of tool inputs that are a path or a command. Other inputs may quote a path without touching its file. */
const PATH_INPUTS = ['command', 'cmd', 'path', 'file_path', 'filePath', 'absolute_path', 'paths', 'file'];

function names({ input }: Call, path: string): boolean {
  const fields = fieldsOf(input);
  const file = new RegExp(`(?<![\\w.-])${path.replaceAll('.', '\\.')}(?![\\w./-])`);
  return PATH_INPUTS.some((key) => Object.hasOwn(fields, key) && file.test(textOf(fields[key])));
}

function succeeded(result: StreamEventOf<'action.result'> | undefined): boolean {
  if (result?.status !== 'completed') return false;
  const { exitCode, exit_code } = fieldsOf(result.output);
  const code = exitCode ?? exit_code;
  return typeof code !== 'number' || code === 0;
}

function textOf(value: JsonValue | undefined): string {
  if (typeof value === 'string') return value;
  if (typeof value !== 'object' || value === null) return '';
  return Object.values(value)
    .map((part) => textOf(part))
    .filter((text) => text !== '')
    .join('\n');
}

const firstOf = (call: Call | undefined): FirstUse | null =>
  call ? { event_index: call.index, at: call.at, call_id: call.callId } : null;
