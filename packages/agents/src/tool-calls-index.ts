/** `@whetstone/agents/tool-calls`: what a tool call does, whatever its agent calls the tool. Loads no agent. */
export {
  type CommandWord,
  programOf,
  type Redirection,
  readScript,
  type SimpleCommand,
} from './command/simple-commands.ts';
export { pathsIn, type ToolCategory, toolCategory } from './kit/tool-category.ts';
