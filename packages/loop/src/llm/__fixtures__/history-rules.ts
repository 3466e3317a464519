import { isJsonObject } from '@whetstone/events/json';
import type { NativeProvider } from '../native-providers.ts';

/*
 * What the three providers refuse with 400, in their own words. Signatures and encrypted reasoning are opaque, so the
 * models of tests make theirs out of the name of the provider (`anthropic:1`); any other is a foreign one. Ids of
 * OpenAI's items hold the number of their response (`rs_1`, `fc_1_0`), because an item needs the reasoning before it.
 */

type Body = Record<string, unknown>;
type Block = Record<string, unknown> & { type: string };

/** The body of the answer 400 to a request; `undefined` where the provider takes its history. */
export function refusalOf(provider: NativeProvider, body: Body): Body | undefined {
  switch (provider) {
    case 'anthropic': {
      const message = first(anthropicProblems(body));
      return message === undefined ? undefined : { type: 'error', error: { type: 'invalid_request_error', message } };
    }
    case 'openai': {
      const message = first(openAiProblems(body));
      return message === undefined ? undefined : { error: { message, type: 'invalid_request_error', param: 'input', code: null } };
    }
    case 'google': {
      const message = first(geminiProblems(body));
      return message === undefined ? undefined : { error: { code: 400, message, status: 'INVALID_ARGUMENT' } };
    }
  }
}

const first = (problems: Iterable<string>): string | undefined => [...problems][0];

const objects = (value: unknown): Block[] => (Array.isArray(value) ? (value.filter(isJsonObject) as Block[]) : []);
const ids = (blocks: Block[], type: string, key: string): string[] =>
  blocks.filter((block) => block.type === type).map((block) => String(block[key]));
const isOwn = (signature: unknown, provider: string) => String(signature).startsWith(`${provider}:`);

function* anthropicProblems({ messages, thinking, system }: Body): Generator<string> {
  const all = objects(messages).map(({ role, content }) => ({
    role,
    blocks: typeof content === 'string' ? [{ type: 'text', text: content }] : objects(content),
  }));
  if (all[0]?.role !== 'user') yield 'messages: first message must use the "user" role';
  const marks = [objects(system), ...all.map(({ blocks }) => blocks)].flat().filter((block) => block.cache_control);
  if (marks.length > 4) yield `A maximum of 4 blocks with cache_control may be provided. Found ${marks.length}.`;
  const used = new Set<string>();
  for (const [index, { role, blocks }] of all.entries()) {
    const at = `messages.${index}`;
    if (blocks.length === 0)
      yield `${at}: all messages must have non-empty content except for the optional final assistant message`;
    const calls = role === 'assistant' ? ids(blocks, 'tool_use', 'id') : [];
    const next = all[index + 1]?.role === 'user' ? all[index + 1] : undefined;
    const answers = ids(next?.blocks ?? [], 'tool_result', 'tool_use_id');
    const open = calls.filter((id) => !answers.includes(id));
    if (open.length > 0)
      yield `${at}: \`tool_use\` ids were found without \`tool_result\` blocks immediately after: ${open.join(', ')}. Each \`tool_use\` block must have a corresponding \`tool_result\` block in the next message.`;
    const asked = index > 0 ? ids(all[index - 1]?.blocks ?? [], 'tool_use', 'id') : [];
    for (const [place, block] of blocks.entries()) {
      const here = `${at}.content.${place}`;
      if (block.type === 'tool_result' && !asked.includes(String(block.tool_use_id)))
        yield `${here}: unexpected \`tool_use_id\` found in \`tool_result\` blocks: ${block.tool_use_id}. Each \`tool_result\` block must have a corresponding \`tool_use\` block in the previous message.`;
      if (block.type === 'text' && String(block.text).trim() === '')
        yield 'messages: text content blocks must contain non-whitespace text';
      if (block.type === 'thinking' && !isOwn(block.signature, 'anthropic'))
        yield `${here}: Invalid \`signature\` in \`thinking\` block`;
      if (block.type !== 'tool_use') continue;
      if (used.has(String(block.id))) yield 'messages: `tool_use` ids must be unique';
      used.add(String(block.id));
      for (const [key, pattern] of [['id', '^[a-zA-Z0-9_-]+$'], ['name', '^[a-zA-Z0-9_-]{1,128}$']] as const)
        if (!new RegExp(pattern).test(String(block[key])))
          yield `${here}.tool_use.${key}: String should match pattern '${pattern}'`;
    }
    if (blocks.at(-1)?.type === 'thinking')
      yield `${at}: The final block in an assistant message cannot be \`thinking\`.`;
  }
  yield* missingThinking(all, thinking);
}

/**
 * With a budget for thinking, the first response to the last input has to begin with it. What counts as an input beside
 * results is not documented: here everything does that could.
 */
function* missingThinking(all: { role: unknown; blocks: Block[] }[], thinking: unknown): Generator<string> {
  if (!isJsonObject(thinking) || thinking.type !== 'enabled') return;
  const begins = [
    ({ role, blocks }: { role: unknown; blocks: Block[] }) =>
      role === 'user' && blocks.every((block) => block.type !== 'tool_result'),
    ({ role, blocks }: { role: unknown; blocks: Block[] }) =>
      role === 'user' && blocks.some((block) => block.type !== 'tool_result'),
  ];
  for (const isInput of begins) {
    const since = all.findLastIndex(isInput);
    const index = all.findIndex(({ role }, place) => role === 'assistant' && place > since);
    const type = all[index]?.blocks[0]?.type;
    if (type !== undefined && type !== 'thinking' && type !== 'redacted_thinking')
      yield `messages.${index}.content.0.type: Expected \`thinking\` or \`redacted_thinking\`, but found \`${type}\`. When \`thinking\` is enabled, a final \`assistant\` message must start with a thinking block (preceeding the lastmost set of \`tool_use\` and \`tool_result\` blocks). We recommend you include thinking blocks from previous turns. To avoid this requirement, disable \`thinking\`.`;
  }
}

const CALLS: ReadonlySet<string> = new Set(['function_call', 'custom_tool_call']);
const OUTPUTS: ReadonlySet<string> = new Set(['function_call_output', 'custom_tool_call_output']);

function* openAiProblems({ input }: Body): Generator<string> {
  const items = objects(input);
  const calls = new Set(items.filter(({ type }) => CALLS.has(type)).map((item) => item.call_id));
  const outputs = new Set(items.filter(({ type }) => OUTPUTS.has(type)).map((item) => item.call_id));
  const seen = new Set<unknown>();
  for (const [index, item] of items.entries()) {
    const { type, id, call_id: callId, name } = item;
    if (CALLS.has(type) && !outputs.has(callId)) yield `No tool output found for function call ${callId}.`;
    if (OUTPUTS.has(type) && !calls.has(callId))
      yield `No tool call found for function call output with call_id ${callId}.`;
    for (const one of [id, CALLS.has(type) ? `call ${callId}` : undefined].filter(Boolean)) {
      if (seen.has(one)) yield `Duplicate item found with id ${one}. Remove duplicate items from your input and try again.`;
      seen.add(one);
    }
    const length = String(callId ?? '-').length;
    if (length > 64)
      yield `Invalid 'input[${index}].call_id': string too long. Expected a string with maximum length 64, but got a string with length ${length} instead.`;
    if (length === 0)
      yield `Invalid 'input[${index}].call_id': empty string. Expected a string with minimum length 1, but got an empty string instead.`;
    if (CALLS.has(type) && !/^[a-zA-Z0-9_-]+$/.test(String(name)))
      yield `Invalid 'input[${index}].name': string does not match pattern. Expected a string that matches the pattern '^[a-zA-Z0-9_-]+$'.`;
    if (type === 'reasoning') {
      if (!isOwn(item.encrypted_content, 'openai'))
        yield `The encrypted content ${item.encrypted_content} could not be verified.`;
      const next = items[index + 1];
      if (!next || !(CALLS.has(next.type) || next.role === 'assistant'))
        yield `Item '${id}' of type 'reasoning' was provided without its required following item.`;
    }
    const response = /^(?:fc|ctc|msg)_(\d+)/.exec(String(id))?.[1];
    if (response !== undefined && !items.slice(0, index).some((other) => other.id === `rs_${response}`))
      yield `Item '${id}' of type '${type ?? 'message'}' was provided without its required 'reasoning' item: 'rs_${response}'.`;
  }
}

function* geminiProblems({ contents }: Body): Generator<string> {
  const all = objects(contents).map(({ role, parts }) => ({ role, parts: objects(parts) }));
  const turn = all.findLastIndex(({ role, parts }) => role === 'user' && !parts.some((part) => part.functionResponse));
  for (const [index, { parts }] of all.entries()) {
    if (parts.length === 0)
      yield `* GenerateContentRequest.contents[${index}].parts: contents.parts must not be empty.\n`;
    const calls = parts.filter((part) => part.functionCall);
    const next = all[index + 1];
    const answers = next?.parts.filter((part) => part.functionResponse) ?? [];
    if (calls.length > 0 && all[index - 1]?.role !== 'user')
      yield 'Please ensure that function call turn comes immediately after a user turn or after a function response turn.';
    if (calls.length !== answers.length)
      yield 'Please ensure that the number of function response parts is equal to the number of function call parts of the function call turn.';
    for (const [place, { functionCall, thoughtSignature }] of parts.entries()) {
      const signature = thoughtSignature ?? 'google:';
      if (!isOwn(signature, 'google') && signature !== 'skip_thought_signature_validator')
        yield 'Corrupted thought signature.';
      if (!isJsonObject(functionCall)) continue;
      const { name } = functionCall;
      if (!/^[a-zA-Z_][\w.:-]{0,63}$/.test(String(name)))
        yield `* GenerateContentRequest.contents[${index}].parts[${place}].function_call.name: [FIELD_INVALID] Invalid function name. Must start with a letter or an underscore. Must be alphanumeric (a-z, A-Z, 0-9), underscores (_), dots (.), colons (:), or dashes (-), with a maximum length of 64.\n`;
      if (index > turn && parts[place] === calls[0] && thoughtSignature === undefined)
        yield `Function call is missing a thought_signature in functionCall parts. This is required for tools to work correctly, and missing thought_signature may lead to degraded model performance. Additional data, function call \`default_api:${name}\` , position ${place + 1}. Please refer to https://ai.google.dev/gemini-api/docs/thought-signatures for more details.`;
    }
  }
}
