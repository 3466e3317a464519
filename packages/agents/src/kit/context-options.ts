import { z } from 'zod';
import { safePath } from './option-values.ts';

/** Where a command or a module looks for its instructions, skills and MCP servers. */
export const contextOptions = z.object({
  context: z
    .object({ instructions: safePath.nullish(), skills: safePath.nullish(), mcp_servers: safePath.nullish() })
    .nullish(),
});
