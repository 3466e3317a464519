import type { ScriptCall } from '@whetstone/gateway';
import type { CreateModelOptions } from '../../llm/create-model.ts';
import { createAnthropicProfile } from '../../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../../profiles/provider-profile.ts';
import { type Body, contentsItems, messagesItems, responsesItems, type WireItem } from './wire-items.ts';

/** A column of the matrix: what one provider's profile and wire have of their own. */
export type Provider = {
  title: string;
  wire: CreateModelOptions['provider'];
  /** The version segment of the base URL. */
  version: string;
  model: string;
  createProfile: (options: ProfileOptions) => ProviderProfile;
  /** What a request says, in its order. */
  items: (body: Body) => WireItem[];
  /** Whether results carry a mark when the call failed. */
  marksFailures: boolean;
  /** Whether a command that exits with another code than 0 counts as a failed call. */
  nonZeroExitFails: boolean;
  /**
   * The part of a request that tells the reasoning effort, and what it is to be. `highWithin`: after a response without
   * reasoning to the same input.
   */
  effort: { of: (body: Body) => unknown; low: unknown; high: unknown; highWithin: unknown; unset: unknown };
  editing: {
    tool: string;
    /** Calls that change `greet.py` as `greetings.after` has it, and how each of them ends. */
    calls: ScriptCall[];
    statuses: string[];
  };
};

const functionText = (name: string, word: string) =>
  `def ${name}(name):\n    word = "${word}"\n    return word\n`;

/** A file in which the line to change, in the second function, stands twice. */
export const greetings = {
  before: `${functionText('hello', 'Hi')}\n${functionText('goodbye', 'Hi')}`,
  after: `${functionText('hello', 'Hi')}\n${functionText('goodbye', 'Bye')}`,
};

const replaceText: Provider['editing'] = {
  tool: 'edit_file',
  calls: [
    edit('    word = "Hi"', '    word = "Bye"'),
    edit('def goodbye(name):\n    word = "Hi"', 'def goodbye(name):\n    word = "Bye"'),
  ],
  statuses: ['failed', 'completed'],
};

function edit(old_string: string, new_string: string): ScriptCall {
  return { tool: 'native', name: 'edit_file', input: { file_path: 'greet.py', old_string, new_string } };
}

const patch = `*** Begin Patch
*** Update File: greet.py
@@ def goodbye(name):
-    word = "Hi"
+    word = "Bye"
     return word
*** End Patch
`;

const thinkingConfig = ({ generationConfig }: Body) =>
  (generationConfig as { thinkingConfig: unknown }).thinkingConfig;

export const providers: readonly Provider[] = [
  {
    title: 'OpenAI',
    wire: 'openai',
    version: 'v1',
    model: 'gpt-5.2',
    createProfile: createOpenAiProfile,
    items: responsesItems,
    marksFailures: false,
    nonZeroExitFails: false,
    effort: {
      of: (body) => body.reasoning,
      low: { effort: 'low', summary: 'auto' },
      high: { effort: 'high', summary: 'auto' },
      highWithin: { effort: 'high', summary: 'auto' },
      unset: undefined,
    },
    editing: {
      tool: 'apply_patch',
      calls: [{ tool: 'native', name: 'apply_patch', input: patch }],
      statuses: ['completed'],
    },
  },
  {
    title: 'Anthropic',
    wire: 'anthropic',
    version: 'v1',
    model: 'claude-sonnet-4-5',
    createProfile: createAnthropicProfile,
    items: messagesItems,
    marksFailures: true,
    nonZeroExitFails: true,
    effort: {
      of: (body) => body.thinking,
      low: { type: 'enabled', budget_tokens: 6_400 },
      high: { type: 'enabled', budget_tokens: 38_400 },
      highWithin: { type: 'disabled' },
      unset: undefined,
    },
    editing: replaceText,
  },
  {
    title: 'Gemini',
    wire: 'google',
    version: 'v1beta',
    model: 'gemini-3-pro-preview',
    createProfile: createGeminiProfile,
    items: contentsItems,
    marksFailures: true,
    nonZeroExitFails: false,
    effort: {
      of: thinkingConfig,
      low: { thinkingLevel: 'low', includeThoughts: true },
      high: { thinkingLevel: 'high', includeThoughts: true },
      highWithin: { thinkingLevel: 'high', includeThoughts: true },
      unset: { includeThoughts: true },
    },
    editing: replaceText,
  },
];
