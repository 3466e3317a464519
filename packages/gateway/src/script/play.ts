import { createHash } from 'node:crypto';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { AgentFamily } from '../agent-family.ts';
import type { NeutralReply, NeutralRequest, NeutralToolCall } from '../wire/neutral.ts';
import { RequestError } from '../wire/request-error.ts';
import { type ChanceSeed, chance } from './chance.ts';
import { estimateUsage, requestText } from './request-text.ts';
import {
  type Script,
  type ScriptCall,
  type ScriptRequest,
  type ScriptStep,
  scriptStepSchema,
} from './script.ts';
import { structuredAnswer } from './structured-answer.ts';
import { structuredText } from './structured-text.ts';
import { translateCall } from './translate.ts';
import { currentTurn } from './turn.ts';

/**
 * The scripted model's reply to a request, and the index of the step that it plays; `null` for a side request, which
 * plays no step.
 * @throws RequestError 400 when the script fails, returns an invalid step, or asks for something that no offered tool
 * can do. Not 500, because agents retry those, and a script gives the same answer again.
 */
export async function playScript(
  script: Script,
  request: NeutralRequest,
  family: AgentFamily,
  seed: ChanceSeed,
): Promise<{ reply: NeutralReply; step: number | null }> {
  const nextId = idSource(request);
  if (isSideRequest(request, family)) {
    const text = request.responseSchema ? structuredText(request.responseSchema) : 'Scripted session';
    return { reply: toReply(request, { text }, [], nextId), step: null };
  }
  if (typeof request.raw.previous_response_id === 'string') {
    throw new RequestError(
      400,
      'A scripted model keeps no responses, so previous_response_id is unknown. Send the whole history as input.',
    );
  }
  const seen = scriptRequest(request, family, seed);
  const step = structuredAnswer(await playStep(script, seen), request.tools);
  const callPrefix = request.wire === 'anthropic-messages' ? 'toolu' : 'call';
  const calls = (step.calls ?? []).map((call) => {
    const translated = translateCall(call, seen);
    if (!translated) throw impossible(script, seen, call);
    return { ...translated, id: `${callPrefix}_${nextId()}` };
  });
  return { reply: toReply(request, step, calls, nextId), step: seen.step };
}

/** A request without tools and with at most so many characters can be a side request, such as one for a title. */
const sideRequestLength = 20_000;

/** Known agents always offer tools in their main requests; an unknown client may want a plain answer. */
function isSideRequest(request: NeutralRequest, family: AgentFamily): boolean {
  return (
    family !== 'unknown' &&
    family !== 'whetstone-loop' &&
    request.tools.length === 0 &&
    request.messages.every((message) => message.role !== 'tool') &&
    requestText(request).length <= sideRequestLength
  );
}

function scriptRequest(request: NeutralRequest, family: AgentFamily, seed: ChanceSeed): ScriptRequest {
  const turn = currentTurn(request.messages);
  return {
    step: turn.step,
    userText: turn.messages.flatMap((message) => (message.role === 'user' ? [message.text] : [])).join('\n'),
    instructions: request.instructions,
    text: requestText(request),
    toolResults: turn.messages.flatMap((message) =>
      message.role === 'tool' ? message.toolResults.map(({ name, output }) => ({ name, output })) : [],
    ),
    tools: request.tools,
    family,
    model: request.model,
    wire: request.wire,
    owner: seed.owner,
    chance: (label, probability) => chance(seed, label, probability),
  };
}

async function playStep(script: Script, request: ScriptRequest): Promise<ScriptStep> {
  const where = `Step ${request.step} of script "${script.name}"`;
  let played: ScriptStep;
  try {
    played = await script.play(request);
  } catch (error) {
    throw new RequestError(400, `${where} failed: ${messageOf(error)}`, { cause: error });
  }
  const step = scriptStepSchema.safeParse(played);
  if (step.success) return step.data;
  const issues = step.error.issues.map((issue) => `${issue.path.join('.') || 'step'}: ${issue.message}`);
  throw new RequestError(400, `${where} is not a valid step. ${issues.join('; ')}`);
}

function impossible(script: Script, request: ScriptRequest, call: ScriptCall): RequestError {
  const offered = request.tools.map((tool) => tool.name).join(', ') || 'none';
  return new RequestError(
    400,
    `Step ${request.step} of script "${script.name}": no offered tool can do "${described(call)}". Offered tools: ${offered}.`,
  );
}

function described(call: ScriptCall): string {
  if (call.tool === 'shell') return call.tool;
  if (call.tool !== 'native') return `${call.tool} ${call.path}`;
  return `native ${call.name} with ${typeof call.input === 'string' ? 'text' : 'an object'}`;
}

function toReply(
  request: NeutralRequest,
  step: ScriptStep,
  toolCalls: NeutralToolCall[],
  nextId: IdSource,
): NeutralReply {
  const said = { ...present({ text: step.text, thinking: step.thinking }), toolCalls };
  return {
    id: nextId(),
    model: request.model,
    createdAt: Math.floor(Date.now() / 1000),
    ...said,
    usage: estimateUsage(request, said, step.usage),
    finish: toolCalls.length > 0 ? 'tool-calls' : 'stop',
  };
}

type IdSource = () => string;

/** Ids depend on the conversation: a repeated request gets the same ids, and each is new in its conversation. */
function idSource(request: NeutralRequest): IdSource {
  const conversation = createHash('sha256').update(JSON.stringify(request.messages)).digest();
  let count = 0;
  return () => createHash('sha256').update(conversation).update(String(count++)).digest('hex').slice(0, 24);
}
