import { join, resolve } from 'node:path';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { mcpToolName } from '../../kit/mcp-tool-name.ts';
import { hostOfUrl } from '../../policy/host-of-url.ts';
import type { PolicyDecision, PolicyRequest, Question } from '../../policy/policy.ts';
import { areBelow } from '../../policy/real-path.ts';
import type { DialogueTurn } from '../native-agent.ts';
import type { OpencodeSdkAnswer } from './bridge.ts';

/** What OpenCode keeps in its home for its tools to read. */
const FREE = ['.config/opencode/skills', '.local/share/opencode/tool-output'];

/** Decides about one call of a tool, which OpenCode asks for by the name of a permission. */
export async function decideCall(question: JsonObject, turn: DialogueTurn): Promise<OpencodeSdkAnswer> {
  const { connection, workingDirectory } = turn;
  const request = requestOf(question, turn);
  const free = [
    ...FREE.map((path) => join(textIn(question.home) ?? connection.home, path)),
    ...(connection.plugins?.map(({ folder }) => folder) ?? []),
  ];
  if (
    request.kind === 'file-read' &&
    (await areBelow(free, request.paths, workingDirectory, connection.place))
  ) {
    return { reply: 'once' };
  }
  const decision = await turn.decide(request);
  if (request.kind === 'question') return answersTo(request.questions, decision);
  if (decision.decision === 'approved') return { reply: 'once' };
  // With a message the turn goes on.
  return { reply: 'reject', message: `This is not allowed here (${decision.rule}).` };
}

function requestOf(question: JsonObject, { workingDirectory, connection }: DialogueTurn): PolicyRequest {
  const callId = requiredText(question.callId);
  const permission = requiredText(question.permission);
  const metadata = objectIn(question.metadata) ?? {};
  const input = objectIn(question.input) ?? {};
  switch (permission) {
    case 'bash': {
      const cwd = resolve(workingDirectory, textIn(input.workdir) ?? '.');
      return { kind: 'command', callId, command: requiredText(metadata.command), cwd };
    }
    case 'edit': {
      const moved = objectsIn(metadata.files).flatMap(({ movePath }) => textIn(movePath) ?? []);
      return { kind: 'file-change', callId, paths: [...namedPaths(question), ...moved] };
    }
    case 'read':
      return { kind: 'file-read', callId, paths: namedPaths(question) };
    case 'glob':
    case 'grep':
    case 'list':
      return { kind: 'file-read', callId, paths: [resolve(workingDirectory, textIn(metadata.path) ?? '.')] };
    case 'question':
      return { kind: 'question', callId, questions: objectsIn(question.questions).map(questionOf) };
    case 'webfetch': {
      const host = hostOfUrl(metadata.url);
      if (host !== undefined) return { kind: 'grant', callId, hosts: [host], what: permission };
    }
  }
  const mcpServers = [
    ...(connection.mcpServers ?? []).map(({ name }) => name),
    ...(connection.plugins ?? []).flatMap((plugin) => plugin.mcpServers ?? []),
  ];
  return { kind: 'tool', callId, name: mcpToolName(permission, { mcpServers }) ?? permission, input };
}

/** OpenCode names paths relative to the root of its repository. */
const namedPaths = ({ patterns, root }: JsonObject): string[] =>
  textsIn(patterns).map((path) => resolve(requiredText(root), path));

const textsIn = (values: JsonValue | undefined): string[] =>
  Array.isArray(values) ? values.filter((value) => typeof value === 'string') : [];

const questionOf = ({ question, options }: JsonObject, index: number): Question => ({
  id: `${index}`,
  text: textIn(question) ?? '',
  options: objectsIn(options).flatMap(({ label }) => textIn(label) ?? []),
});

/** A question without an answer lets the turn go on; one that is refused would end it. */
const answersTo = (questions: readonly Question[], { answers }: PolicyDecision): OpencodeSdkAnswer => ({
  answers: questions.map(({ id }) => [...(answers?.[id] ?? [])]),
});
