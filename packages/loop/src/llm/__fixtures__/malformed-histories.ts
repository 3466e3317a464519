import type { NativeProvider } from '../native-providers.ts';

type Malformed = {
  provider: NativeProvider;
  what: string;
  /** Of the provider's refusal. */
  says: RegExp;
  /** The part of a request that has the history. */
  body: Record<string, unknown>;
};

const user = (...content: unknown[]) => ({ role: 'user', content });
const assistant = (...content: unknown[]) => ({ role: 'assistant', content });
const text = (words: string) => ({ type: 'text', text: words });
const use = (id: string, name = 'shell') => ({ type: 'tool_use', id, name, input: {} });
const result = (id: string) => ({ type: 'tool_result', tool_use_id: id, content: 'ok' });
const thought = (signature: string) => ({ type: 'thinking', thinking: 'hm', signature });

const call = (id: string, name = 'shell') => ({ type: 'function_call', call_id: id, name, arguments: '{}' });
const output = (id: string) => ({ type: 'function_call_output', call_id: id, output: 'ok' });
const reasoning = (id: string, seal: string) => ({ type: 'reasoning', id, summary: [], encrypted_content: seal });
const asked = { role: 'user', content: [{ type: 'input_text', text: 'go' }] };

const go = { role: 'user', parts: [{ text: 'go' }] };
const model = (...parts: unknown[]) => ({ role: 'model', parts });
const functionCall = (name: string) => ({ functionCall: { name, args: {} } });
const answer = { role: 'user', parts: [{ functionResponse: { name: 'shell', response: { output: 'ok' } } }] };
const signed = { ...functionCall('shell'), thoughtSignature: 'google:1' };

const claude = (what: string, says: RegExp, messages: unknown[], more = {}): Malformed => ({
  provider: 'anthropic',
  what,
  says,
  body: { messages, ...more },
});
const gpt = (what: string, says: RegExp, input: unknown[]): Malformed => ({
  provider: 'openai',
  what,
  says,
  body: { input },
});
const gemini = (what: string, says: RegExp, contents: unknown[]): Malformed => ({
  provider: 'google',
  what,
  says,
  body: { contents },
});

/** Requests that each break one rule of a provider. */
export const malformedHistories: readonly Malformed[] = [
  claude('a call without a result', /without `tool_result` blocks immediately after: a/, [
    user(text('go')),
    assistant(use('a')),
    user(text('and?')),
  ]),
  claude('a result without a call', /unexpected `tool_use_id`/, [user(text('go')), user(result('a'))]),
  claude('an id used twice', /ids must be unique/, [
    user(text('go')),
    ...[1, 2].flatMap(() => [assistant(use('a')), user(result('a'))]),
  ]),
  claude('an id with other signs', /tool_use\.id: String should match/, [
    user(text('go')),
    assistant(use('functions.shell:0')),
    user(result('functions.shell:0')),
  ]),
  claude('a tool name with other signs', /tool_use\.name: String should match/, [
    user(text('go')),
    assistant(use('a', 'no.such')),
    user(result('a')),
  ]),
  claude('a blank text', /non-whitespace text/, [user(text(' '))]),
  claude('a response first', /first message must use the "user" role/, [assistant(text('hi'))]),
  claude('an empty response', /must have non-empty content/, [user(text('go')), assistant(), user(text('go'))]),
  claude('thinking at the end of a response', /final block in an assistant message/, [
    user(text('go')),
    assistant(thought('anthropic:1')),
    user(text('go')),
  ]),
  claude('the signature of another provider', /Invalid `signature`/, [
    user(text('go')),
    assistant(thought('google:1'), use('a')),
    user(result('a')),
  ]),
  claude('a budget for thinking, and a round without', /final `assistant` message must start with/, [user(text('go')), assistant(use('a')), user(result('a'), text('left'))], { thinking: { type: 'enabled', budget_tokens: 1024 } }),
  claude('five marks for the cache', /maximum of 4 blocks/, [
    user(...Array.from({ length: 5 }, () => ({ ...text('go'), cache_control: { type: 'ephemeral' } }))),
  ]),
  gpt('a call without an output', /No tool output found for function call a/, [asked, call('a')]),
  gpt('an output without a call', /No tool call found .* call_id a/, [asked, output('a')]),
  gpt('an item sent twice', /Duplicate item found with id rs_1/, [
    asked,
    ...['a', 'b'].flatMap((id) => [reasoning('rs_1', 'openai:1'), call(id), output(id)]),
  ]),
  gpt('an id that is too long', /string too long/, [asked, call('a'.repeat(65)), output('a'.repeat(65))]),
  gpt('an empty id', /empty string/, [asked, call(''), output('')]),
  gpt('a tool name with other signs', /string does not match pattern/, [asked, call('a', 'no.such'), output('a')]),
  gpt('sealed reasoning of another provider', /could not be verified/, [
    asked,
    reasoning('rs_1', 'anthropic:1'),
    call('a'),
    output('a'),
  ]),
  gpt('reasoning without what it led to', /required following item/, [asked, reasoning('rs_1', 'openai:1'), asked]),
  gpt('a call without its reasoning', /without its required 'reasoning' item: 'rs_1'/, [
    asked,
    { ...call('a'), id: 'fc_1_0' },
    output('a'),
  ]),
  gemini('a call without a response', /number of function response parts is equal/, [go, model(signed), go]),
  gemini('a call after a response', /function call turn comes immediately after a user turn/, [
    go,
    model({ text: 'wait' }),
    model(signed),
    answer,
  ]),
  gemini('a call without its signature', /missing a thought_signature .* `default_api:shell`/, [
    go,
    model(functionCall('shell')),
    answer,
  ]),
  gemini('the signature of another provider', /Corrupted thought signature/, [
    go,
    model({ ...signed, thoughtSignature: 'anthropic:1' }),
    answer,
  ]),
  gemini('a tool name that begins with a digit', /Invalid function name/, [
    go,
    model({ ...functionCall('3d'), thoughtSignature: 'google:1' }),
    answer,
  ]),
  gemini('an empty response', /parts must not be empty/, [go, model(), go]),
];
