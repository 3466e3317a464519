import type { JsonObject } from '@whetstone/events';
import { type Arguments, objectOf, type Parameters } from './parameters.ts';
import { defineTool, type RegisteredTool, type ToolExecutor } from './tool.ts';

export type BuiltInTool<P> = Omit<RegisteredTool, 'definition' | 'executor'> & {
  name: string;
  description: string;
  parameters: P;
  /** Keywords of JSON Schema for the object of all arguments. */
  keywords?: JsonObject;
  executor: ToolExecutor<Arguments<P>>;
};

/** Makes a tool of this package. The type of its arguments follows from its parameters. */
export function builtInTool<P extends Parameters>(tool: BuiltInTool<P>): RegisteredTool {
  const { name, description, parameters, keywords, ...traits } = tool;
  const { schema } = objectOf(parameters, keywords);
  return defineTool({ definition: { name, description, parameters: schema }, ...traits });
}
