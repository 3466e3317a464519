import type { JsonObject } from '@whetstone/events';
import { type Answer, eventAnswer, jsonAnswer } from '../answer.ts';
import type { Call, ModelCall, Source } from '../source.ts';
import type { WireProtocol } from '../wire/neutral.ts';
import { RequestError } from '../wire/request-error.ts';
import { wires } from '../wire/wires.ts';
import type { ChanceSeed } from './chance.ts';
import { playScript } from './play.ts';
import { estimateInputTokens } from './request-text.ts';
import type { Script } from './script.ts';

/** Answers as the scripted model. */
export function scriptSource(script: Script, seed: ChanceSeed): Source {
  return {
    reply: (call) => reply(script, call, seed),

    async countTokens({ neutral }) {
      const tokens = estimateInputTokens(neutral);
      const counted =
        neutral.wire === 'gemini-generate-content' ? { totalTokens: tokens } : { input_tokens: tokens };
      return jsonAnswer(200, counted);
    },

    async other({ route, wire, method, line }) {
      if (route.kind === 'models') return jsonAnswer(200, modelList(wire, script.name));
      throw unknownPath({ method, line });
    },

    async close() {},
  };
}

export const unknownPath = ({ method, line }: Pick<Call, 'method' | 'line'>): RequestError =>
  new RequestError(404, `The gateway does not know ${method} ${line.path}.`);

async function reply(script: Script, call: ModelCall, seed: ChanceSeed): Promise<Answer> {
  const { neutral, line, route } = call;
  const played = await playScript(script, neutral, line.agent_family, seed);
  if (played.step === null) line.flags.push('side-request');
  line.step = played.step;
  line.model_answered = line.model_asked;
  line.usage = played.reply.usage;
  line.finish = played.reply.finish;
  line.tools_called = played.reply.toolCalls.map((toolCall) => toolCall.name);

  const wire = wires[neutral.wire];
  if (neutral.stream) return eventAnswer(wire.stream(played.reply, neutral));
  const body = wire.encode(played.reply);
  return jsonAnswer(200, route.kind === 'reply' && route.asList ? [body] : body);
}

/** The only model. Its id is the script's name; a request may name any other model. */
function modelList(wire: WireProtocol, id: string): JsonObject {
  switch (wire) {
    case 'openai-responses':
    case 'openai-chat-completions':
      return { object: 'list', data: [{ id, object: 'model', created: 0, owned_by: 'whetstone' }] };
    case 'anthropic-messages': {
      const model = { type: 'model', id, display_name: id, created_at: '1970-01-01T00:00:00Z' };
      return { data: [model], has_more: false, first_id: id, last_id: id };
    }
    case 'gemini-generate-content': {
      const methods = ['generateContent', 'countTokens'];
      return {
        models: [{ name: `models/${id}`, displayName: id, supportedGenerationMethods: methods }],
      };
    }
  }
}
