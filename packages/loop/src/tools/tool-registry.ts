import type { RegisteredTool, ToolDefinition } from './tool.ts';

/** The tools of a profile (loop spec 3.8), in the order of their registration. */
export class ToolRegistry {
  readonly #tools = new Map<string, RegisteredTool>();

  constructor(tools: Iterable<RegisteredTool> = []) {
    for (const tool of tools) this.register(tool);
  }

  /** Adds a tool, or replaces the one of the same name. Throws a `TypeError` for a name that providers refuse. */
  register(tool: RegisteredTool): void {
    const { name } = tool.definition;
    if (!/^[\w-]{1,64}$/.test(name)) {
      throw new TypeError(
        `ToolRegistry: "${name}" is not a tool name: providers take 1 to 64 letters, digits, _ and -`,
      );
    }
    this.#tools.set(name, tool);
  }

  /** Removes a tool. Returns whether there was one of that name. */
  unregister(name: string): boolean {
    return this.#tools.delete(name);
  }

  get(name: string): RegisteredTool | undefined {
    return this.#tools.get(name);
  }

  definitions(): ToolDefinition[] {
    return Array.from(this.#tools.values(), ({ definition }) => definition);
  }

  names(): string[] {
    return [...this.#tools.keys()];
  }

  [Symbol.iterator](): IterableIterator<RegisteredTool> {
    return this.#tools.values();
  }
}
