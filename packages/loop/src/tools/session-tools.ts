import type { JsonObject } from '@whetstone/events';
import type { RegisteredTool, ToolDefinition } from './tool.ts';
import type { ToolRegistry } from './tool-registry.ts';

/** The tools of a session: those of its profile, and then its own. */
export type SessionTools = {
  get(name: string): RegisteredTool | undefined;
  names(): string[];
  definitions(): ToolDefinition[];
};

/** Replaces the profile's tool of the same name; with `accepts`, only for the calls that it accepts. */
export type SessionTool = RegisteredTool & { accepts?: (args: JsonObject) => boolean };

export function sessionTools(
  profile: { readonly toolRegistry: ToolRegistry; tools(): ToolDefinition[] },
  own: readonly SessionTool[],
): SessionTools {
  const { toolRegistry } = profile;
  const byName = new Map(own.map((tool) => [tool.definition.name, tool]));
  return {
    get: (name) => together(toolRegistry.get(name), byName.get(name)),
    names: () => [...new Set([...toolRegistry.names(), ...byName.keys()])],
    definitions() {
      const added = own.filter(({ definition }) => toolRegistry.get(definition.name) === undefined);
      return [...profile.tools(), ...added.map(({ definition }) => definition)];
    },
  };
}

function together(
  ofProfile: RegisteredTool | undefined,
  own: SessionTool | undefined,
): RegisteredTool | undefined {
  if (!ofProfile || !own?.accepts) return ofProfile ?? own;
  const { accepts, executor } = own;
  return {
    ...ofProfile,
    executor: (args, context) =>
      accepts(args) ? executor(args, context) : ofProfile.executor(args, context),
  };
}
