import { z } from 'zod';
import { withDescriptions } from './key-descriptions.ts';
import {
  agentKind,
  agentSchema,
  judgeSchema,
  legacyAgentSchema,
  mcpServerSchema,
  overlaySchema,
  rootSchema,
  sandboxSchema,
  taskFileSchema,
  taskSchema,
  variantSchema,
} from './schema.ts';

/** What the loader takes as the values of `env`, which it reads as they are written. */
const environment = { env: z.record(z.string(), z.union([z.string(), z.number(), z.boolean()])).nullish() };
const agent = agentSchema.extend(environment);

/** A configuration file with all its levels. The loader reads it level by level, so that it can report each problem. */
const configFile = rootSchema.extend({
  agent: legacyAgentSchema.extend(environment).optional(),
  agents: z.record(z.string(), agent.extend({ kind: agentKind })).nullish(),
  variants: z.record(
    z.string(),
    variantSchema
      .extend({
        overlays: z.array(overlaySchema).nullish(),
        mcp_servers: z.record(z.string(), mcpServerSchema.extend(environment)).nullish(),
      })
      .nullable(),
  ),
  sandbox: z.union([z.string(), sandboxSchema]).nullish(),
  judge: judgeSchema.nullish(),
});

const task = taskSchema.extend({ overlays: z.array(overlaySchema).nullish() });
const taskFile = taskFileSchema.extend({ tasks: z.array(task).min(1).nullish() });

/** What `schema.ts` and the options of agents read as a number and as a boolean. */
const QUOTED_NUMBER = { type: 'string', pattern: '^\\d{1,15}$' } as const;
const FLAG_WORD = {
  type: 'string',
  pattern: '^([Tt]rue|TRUE|[Yy]es|YES|[Oo]n|ON|[Ff]alse|FALSE|[Nn]o|NO|[Oo]ff|OFF)$',
} as const;

/**
 * JSON Schemas of the files that a user writes, for editors; by the name under which the package ships each. They are
 * made from what the loader checks. An unknown key is an error for an editor and a warning for the loader. What needs
 * several keys or the disk is left to the loader.
 */
export const fileSchemas = {
  'whetstone.schema.json': withDescriptions(jsonSchema(configFile, 'whetstone.yaml')),
  'tasks.schema.json': jsonSchema(taskFile, 'The tasks of a whetstone.yaml'),
  'task.schema.json': jsonSchema(task, 'A task.yaml: one task in a folder of its own'),
};

function jsonSchema(schema: z.ZodObject, title: string): Record<string, unknown> {
  const made = z.toJSONSchema(schema, {
    io: 'input',
    target: 'draft-7',
    unrepresentable: 'any',
    override: ({ zodSchema, jsonSchema }) => {
      if (zodSchema instanceof z.ZodPipe && zodSchema.in instanceof z.ZodTransform) {
        const { ...own } = jsonSchema;
        for (const key of Object.keys(jsonSchema)) delete jsonSchema[key];
        jsonSchema.anyOf = [own, own.type === 'boolean' ? FLAG_WORD : QUOTED_NUMBER];
      }
      // A task may have keys for other tools.
      if (jsonSchema.properties && (zodSchema as unknown) !== task) jsonSchema.additionalProperties = false;
    },
  });
  return { title, ...made };
}
