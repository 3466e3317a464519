import type { JsonObject } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { hostOfUrl } from '../../policy/host-of-url.ts';
import type { PolicyDecision, PolicyRequest, Question } from '../../policy/policy.ts';
import { areBelow } from '../../policy/real-path.ts';
import type { DialogueTurn } from '../native-agent.ts';
import type { ClaudeSdkAnswer } from './bridge.ts';
import { pathsOfCall } from './call-paths.ts';

const WRITING = new Set(['Write', 'Edit', 'MultiEdit', 'NotebookEdit']);
const READING = new Set(['Read', 'Glob', 'Grep', 'LS']);
const COMMANDS = new Set(['Bash', 'Monitor']);

/**
 * Tools that change nothing by themselves. What a sub-agent or a skill then does is asked for call by call. WebSearch
 * runs at the provider; it is only there with an open network.
 */
const INTERNAL = new Set([
  ...['Agent', 'Task', 'TaskCreate', 'TaskGet', 'TaskList', 'TaskOutput', 'TaskStop', 'TaskUpdate'],
  ...['EnterPlanMode', 'ExitPlanMode', 'ListAgents', 'ReportFindings', 'SendMessage', 'Skill'],
  ...['StructuredOutput', 'TodoWrite', 'ToolSearch', 'WebSearch'],
]);

/** Decides about one call of a tool. `free`: folders that may be read without a question. */
export async function decideCall(
  question: JsonObject,
  free: readonly string[],
  { decide, connection, workingDirectory }: DialogueTurn,
): Promise<ClaudeSdkAnswer> {
  const tool = requiredText(question.tool);
  const input = objectIn(question.input) ?? {};
  if (INTERNAL.has(tool)) return { behavior: 'allow' };
  const paths = pathsOfCall(tool, input, connection);
  if (READING.has(tool) && (await areBelow(free, paths, workingDirectory, connection.place)))
    return { behavior: 'allow' };
  const { plugins = [] } = connection;
  const callId = requiredText(question.callId);
  const request = requestOf({ callId, tool, input, paths, workingDirectory, plugins });
  return answerOf(request, await decide(request));
}

type Call = {
  callId: string;
  tool: string;
  input: JsonObject;
  paths: string[];
  workingDirectory: string;
  plugins: readonly { name: string }[];
};

function requestOf({ callId, tool, input, paths, workingDirectory, plugins }: Call): PolicyRequest {
  const command = textIn(input.command);
  if (COMMANDS.has(tool) && command !== undefined) {
    return { kind: 'command', callId, command, cwd: workingDirectory };
  }
  if (WRITING.has(tool)) return { kind: 'file-change', callId, paths };
  if (READING.has(tool)) return { kind: 'file-read', callId, paths };
  if (tool === 'AskUserQuestion') {
    return { kind: 'question', callId, questions: objectsIn(input.questions).map(questionOf) };
  }
  const host = tool === 'WebFetch' ? hostOfUrl(input.url) : undefined;
  if (host !== undefined) return { kind: 'grant', callId, hosts: [host], what: tool };
  return { kind: 'tool', callId, name: ownName(tool, plugins), input };
}

/** The tool of a plugin's server, without what Claude Code puts before the server's name. */
function ownName(tool: string, plugins: readonly { name: string }[]): string {
  const prefix = plugins.map(({ name }) => `mcp__plugin_${name}_`).find((one) => tool.startsWith(one));
  return prefix === undefined ? tool : `mcp__${tool.slice(prefix.length)}`;
}

function questionOf({ question, options }: JsonObject): Question {
  const text = textIn(question) ?? '';
  return { id: text, text, options: objectsIn(options).flatMap(({ label }) => textIn(label) ?? []) };
}

function answerOf(request: PolicyRequest, { decision, rule, answers }: PolicyDecision): ClaudeSdkAnswer {
  if (decision === 'denied') return { behavior: 'deny', message: `This is not allowed here (${rule}).` };
  if (request.kind !== 'question') return { behavior: 'allow' };
  const said = Object.entries(answers ?? {}).map(([text, labels]) => [text, labels.join(', ')]);
  return { behavior: 'allow', answers: Object.fromEntries(said) };
}
