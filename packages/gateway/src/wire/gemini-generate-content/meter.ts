import { isJsonObject, type JsonObject, type Usage } from '@whetstone/events';
import { objectAt, objectsAt, stringAt } from '../json-reading.ts';
import { tokensAt, usageOf, type WireMeter } from '../metered.ts';

/**
 * Meters a response of the Gemini API. Every chunk of a stream has the usage so far; only the last one counts. A stream that
 * is cut off before it gives a reason for its end has no usage: nobody knows how much came after the last chunk.
 */
export function meterGenerateContent(): WireMeter {
  let model = '';
  let usage: JsonObject | undefined;
  let finishReason = '';
  let hasEnd = false;
  const toolCalls: string[] = [];

  return {
    read(data) {
      // Code Assist, which Gemini CLI uses after a login, wraps each response.
      const response = isJsonObject(data.response) ? data.response : data;
      model = stringAt(response, 'modelVersion') || model;
      if (isJsonObject(response.usageMetadata)) usage = { ...usage, ...response.usageMetadata };
      finishReason = stringAt(objectAt(response, 'promptFeedback'), 'blockReason') || finishReason;
      let said = false;
      for (const candidate of objectsAt(response, 'candidates')) {
        finishReason = stringAt(candidate, 'finishReason') || finishReason;
        for (const part of objectsAt(objectAt(candidate, 'content'), 'parts')) {
          if (isJsonObject(part.functionCall)) toolCalls.push(stringAt(part.functionCall, 'name'));
          said ||= isJsonObject(part.functionCall) || stringAt(part, 'text') !== '';
        }
      }
      hasEnd ||= finishReason !== '' || isJsonObject(response.error);
      return said;
    },

    done() {
      hasEnd = true;
    },

    hasEnd: () => hasEnd,

    result: () => ({
      model: model || null,
      usage: usage && hasEnd ? geminiUsage(usage) : null,
      finish: finishReason === '' ? null : finish(finishReason, toolCalls),
      toolCalls,
    }),
  };
}

/**
 * `promptTokenCount` includes cached tokens. Tool-use prompts add to the input, and thoughts add to the output. Gemini
 * leaves out counts of 0, but a prompt is never empty.
 */
function geminiUsage(usage: JsonObject): Usage | null {
  const prompt = tokensAt(usage, 'promptTokenCount');
  const cacheRead = tokensAt(usage, 'cachedContentTokenCount');
  const thoughts = tokensAt(usage, 'thoughtsTokenCount');
  return usageOf({
    input: prompt && prompt + (tokensAt(usage, 'toolUsePromptTokenCount') ?? 0) - (cacheRead ?? 0),
    output: (tokensAt(usage, 'candidatesTokenCount') ?? 0) + (thoughts ?? 0),
    cacheRead,
    cacheWrite: undefined,
    reasoning: thoughts,
  });
}

function finish(reason: string, toolCalls: string[]): string {
  if (reason === 'STOP') return toolCalls.length > 0 ? 'tool-calls' : 'stop';
  return finishes[reason] ?? reason.toLowerCase();
}

const finishes: Record<string, string> = {
  MAX_TOKENS: 'length',
  SAFETY: 'content-filter',
  RECITATION: 'content-filter',
  BLOCKLIST: 'content-filter',
  PROHIBITED_CONTENT: 'content-filter',
  SPII: 'content-filter',
  MALFORMED_FUNCTION_CALL: 'error',
  UNEXPECTED_TOOL_CALL: 'error',
};
