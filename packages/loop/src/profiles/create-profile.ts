import type { JSONObject } from '@ai-sdk/provider';
import { present } from '@whetstone/events/present';
import { count, type Kind, object, oneOf, refuseUnknown, text } from '../control/check-options.ts';
import type { RegisteredTool } from '../tools/tool.ts';
import { ToolRegistry } from '../tools/tool-registry.ts';
import { catalogContextWindow } from './model-catalog.ts';
import type { ProfileOptions, ProviderProfile, ProviderRequest } from './provider-profile.ts';
import { layerSystemPrompt } from './system-prompt.ts';

/** What distinguishes a model family. */
export type Family = Pick<ProviderProfile, 'id' | 'projectDocumentNames' | 'contextWindowSize'> &
  Partial<Pick<ProviderProfile, 'maxOutputTokens' | 'subagentTools' | 'askUserTool'>> & {
    tools: readonly RegisteredTool[];
    /** Options of this family only. */
    options?: Readonly<Record<string, Kind>>;
    baseText: string;
    /** A window that the request asks for, whatever the model's usual one is. */
    extendedWindow?: number | undefined;
    /** The provider's name in request options, and the options. */
    requestOptions: { provider: string; of: (request: ProviderRequest) => JSONObject };
  };

const OPTIONS: Readonly<Record<keyof ProfileOptions, Kind>> = {
  model: text,
  toolSet: oneOf('spec', 'native'),
  providerOptions: object,
  contextWindowSize: count,
  maxOutputTokens: count,
  knowledgeCutoff: text,
};

/** The profile of a family with the host's options over its defaults. */
export function createProfile(options: ProfileOptions, family: Family): ProviderProfile {
  refuseUnknown('ProfileOptions', options, { ...OPTIONS, ...family.options }, ['model']);
  const toolRegistry = new ToolRegistry(family.tools);
  const { provider, of: optionsOf } = family.requestOptions;
  const { id, projectDocumentNames, subagentTools, askUserTool } = family;
  const { model, knowledgeCutoff, maxOutputTokens = family.maxOutputTokens } = options;
  return {
    id,
    model,
    toolRegistry,
    buildSystemPrompt: (parts) => layerSystemPrompt(family.baseText, toolRegistry, parts),
    tools: () => toolRegistry.definitions(),
    providerOptions: (request) => ({ [provider]: { ...optionsOf(request), ...options.providerOptions } }),
    projectDocumentNames,
    supportsReasoning: true,
    supportsStreaming: true,
    supportsParallelToolCalls: true,
    // The list is searched when somebody asks, not when a profile is made.
    get contextWindowSize() {
      return (
        options.contextWindowSize ??
        family.extendedWindow ??
        catalogContextWindow(provider, model) ??
        family.contextWindowSize
      );
    },
    ...present({ maxOutputTokens, knowledgeCutoff, subagentTools, askUserTool }),
  };
}
