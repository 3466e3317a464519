import {
  type AgentKind,
  agentKinds,
  anyText,
  command,
  commandOptions,
  contextOptions,
  count,
  driverOptions,
  httpUrl,
  kindAliases,
  kindNamed,
  loopOptions,
  minutes,
  moduleOptions,
  name,
  safePath,
  seconds,
  text,
  toCommand,
  variableName,
} from '@whetstone/agents/config';
import { messageOf } from '@whetstone/errors';
import { ENDPOINT_RULE } from '@whetstone/gateway/endpoint-rule';
import picomatch from 'picomatch';
import { z } from 'zod';
import { camelCased } from './camel-cased.ts';
import { declaredMargin, declaredMetric } from './declared-metric.ts';
import { referenceProblem } from './environment-reference.ts';

/** The shapes of the YAML files. What needs more than one key, or the disk, is checked by what reads it. */

const flag = z.preprocess(readFlag, z.boolean());

const orElse = <Value>(schema: z.ZodType<Value>, fallback: Value) =>
  schema.nullish().transform((value) => value ?? fallback);

const list = <Value>(item: z.ZodType<Value>) => orElse(z.array(item), []);

const shellOrArgv = command.transform(toCommand);
const commandListKeys = z.object({ commands: list(shellOrArgv), timeout_seconds: seconds.nullish() });
const commandList = commandListKeys.transform(camelCased).nullish();

export const testRunnerNames = [
  'node-test',
  'vitest',
  'jest',
  'mocha',
  'pytest',
  'unittest',
  'go-test',
  'cargo-test',
] as const;

const environmentValue = anyText.superRefine((value, context) => {
  const problem = referenceProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: problem });
});

const treeGlob = anyText.superRefine((value, context) => {
  const problem = globProblem(value);
  if (problem !== undefined) context.addIssue({ code: 'custom', message: `bad pattern: ${problem}` });
});
const budgetSchema = z
  .object({
    usd: z
      .number()
      .refine((value) => value > 0, 'must be more than 0')
      .nullish(),
    tokens: count.nullish(),
    calls: count.nullish(),
    minutes: minutes.nullish(),
  })
  .nullish();

const upstreamSchema = z
  .object({
    url: httpUrl.nullish(),
    key_env: variableName.nullish(),
    key_file: text.nullish(),
    key_command: text.nullish(),
  })
  .nullish();

export const gatewaySchema = z.object({
  mode: z.enum(['script', 'forward', 'record', 'replay']),
  script: text.nullish(),
  cassettes: text.nullish(),
  miss: z.enum(['strict', 'lenient', 'fork']).nullish(),
  timing: z.enum(['collapsed', 'kept']).nullish(),
  upstreams: z
    .object({ openai: upstreamSchema, anthropic: upstreamSchema, google: upstreamSchema })
    .nullish(),
  allow_provider_tools: z.union([flag, z.array(name)]).nullish(),
  allow_endpoints: z
    .array(
      text.regex(ENDPOINT_RULE, 'must be a path, with or without a method: /v1/embeddings, GET /files/*'),
    )
    .nullish(),
  calls_at_once: count.nullish(),
  keep_exchanges: flag.nullish(),
  budget: budgetSchema,
  run_budget: budgetSchema,
  faults: z.array(text).nullish(),
});

const serviceName = z
  .string()
  .regex(/^[A-Za-z_][A-Za-z0-9_]*$/, 'may only have letters, digits and _, for NAME_HOST and NAME_PORT');

export const environmentSchema = z.object({
  prepare: list(shellOrArgv),
  inputs: z
    .union([treeGlob, z.array(treeGlob).min(1)])
    .transform((given) => (given === 'all' ? given : typeof given === 'string' ? [given] : given))
    .nullish(),
  env: z.record(variableName, environmentValue).nullish(),
  timeout_seconds: seconds.nullish(),
  services: z
    .record(serviceName, z.object({ command: text, ready: orElse(z.enum(['tcp', 'none']), 'tcp') }))
    .nullish(),
});

/** As data. A configuration in TypeScript may also give a function as `model`, and an agent that was defined in code. */
export const judgeSchema = z.object({
  model: text
    .refine(
      (model) => /^(?:openai|anthropic|google)\/./.test(model),
      'must be openai/…, anthropic/… or google/…',
    )
    .nullish(),
  agent: z.record(z.string(), z.unknown()).nullish(),
  votes: z.number().int().min(1).max(25).nullish(),
  budget: budgetSchema,
  script: text.nullish(),
  same_as_agent: flag.nullish(),
});

export const rootSchema = z.object({
  repo: z.object({ path: text, base_ref: name.nullish() }),
  agent: z.unknown().optional(),
  agents: z.record(z.string(), z.unknown()).nullish(),
  tasks: text.nullish(),
  variants: z.record(z.string(), z.unknown()),
  evaluation: commandList,
  output_dir: text.nullish(),
  seed: z.union([name, z.number().multipleOf(1, 'must be text or a whole number')]).nullish(),
  baseline: anyText.nullish(),
  /** Scores are of evals, so that only an experiment can declare them. */
  metric: declaredMetric.exclude(['score']).nullish(),
  equivalence: declaredMargin.nullish(),
  sandbox: z.unknown().optional(),
  environment: environmentSchema.nullish(),
  gateway: gatewaySchema.nullish(),
  judge: z.unknown().optional(),
});

/** Another name of a kind becomes the kind. */
export const agentKind = z
  .enum([...agentKinds, ...Object.keys(kindAliases)])
  .transform((name) => kindNamed(name) as AgentKind);

/** What holds for every agent, and the options of each way to run one. */
export const agentSchema = z.object({
  kind: agentKind.nullish(),
  ...commandOptions.shape,
  ...moduleOptions.shape,
  timeout_minutes: minutes.nullish(),
  timeout_seconds: seconds.nullish(),
  network: z.enum(['disabled', 'enabled']).nullish(),
  prompt_template: text.nullish(),
  side_effects: z.enum(['none']).nullish(),
  env: z.record(z.string(), z.unknown()).nullish(),
  ...driverOptions.shape,
  ...loopOptions.shape,
  ...contextOptions.shape,
});

/** The one agent of the legacy shape carries its own name. */
export const legacyAgentSchema = agentSchema.extend({ name });

const instructionsSchema = z.object({
  text: text.nullish(),
  file: text.nullish(),
  mode: z.enum(['append', 'replace']).nullish(),
});

export const variantSchema = z.object({
  description: anyText.nullish(),
  overlays: z.array(z.unknown()).nullish(),
  instructions: z.union([text, instructionsSchema]).nullish(),
  skills: z.array(text).nullish(),
  mcp_servers: z.record(z.string(), z.unknown()).nullish(),
  plugins: z.array(text).nullish(),
});

export const mcpServerSchema = z.object({
  command: text.nullish(),
  args: z.array(anyText).nullish(),
  env: z.record(z.string(), z.unknown()).nullish(),
  url: httpUrl.nullish(),
  headers: z.record(z.string(), anyText).nullish(),
});

export const overlaySchema = z.object({
  source: text.nullish(),
  target: safePath.nullish(),
  remove: z.array(safePath).min(1).nullish(),
});

export const sandboxSchema = z.object({
  provider: name.nullish(),
  readable: z.array(text).nullish(),
  hosts: z.array(text).nullish(),
  setup_hosts: z.array(text).nullish(),
  image: name.nullish(),
  build: z.object({ context: text.nullish(), dockerfile: safePath.nullish() }).nullish(),
  runtime: name.nullish(),
  socket: name.nullish(),
  limits: z
    .object({
      memory_mb: z.number().min(16),
      processes: z.number().int().min(8),
      cpus: z.number().min(0.1),
      disk_mb: z.number().min(64),
    })
    .partial()
    .nullish(),
});

/** `include`: folders with a `task.yaml` each, or whose subfolders have one. */
export const taskFileSchema = z.object({
  tasks: z.array(z.unknown()).min(1, 'at least one task is required').nullish(),
  include: z.array(text).nullish(),
});

/** Rounds of masked tests. */
const MOST_ROUNDS = 20;

const taskTestsSchema = z
  .object({
    runner: z.enum(testRunnerNames),
    files: z.array(safePath).min(1),
    directory: safePath.nullish(),
    options: list(text),
    must_pass: z.union([text, z.array(text).min(1)]).nullish(),
    others: z.union([text, z.array(text)]).nullish(),
    settings: z.enum(['own', 'tree']).nullish(),
    masks: z
      .preprocess(readSwitch, z.union([z.enum(['off', 'on']), z.number().int().min(1).max(MOST_ROUNDS)]))
      .nullish(),
  })
  .transform(camelCased);

const snippet = anyText.min(1, 'a snippet must not be empty');
const snippets = list(z.object({ path: safePath, snippets: z.array(snippet) }));

const expectedOutcomeSchema = z
  .object({
    summary: anyText.nullish(),
    acceptance_points: list(anyText),
    files: list(
      z
        .object({
          path: safePath,
          change_type: orElse(anyText, 'modified'),
          must_change: orElse(flag, false),
          expected_snippets: list(snippet),
          forbidden_snippets: list(snippet),
        })
        .transform(camelCased),
    ),
    forbidden_paths: list(safePath),
  })
  .transform(camelCased);

const hardEvaluationSchema = z
  .object({
    enabled: orElse(flag, true),
    require_validation_pass: orElse(flag, false),
    max_changed_files: count.nullish(),
    required_paths: list(safePath),
    forbidden_paths: list(safePath),
    expected_snippets: snippets,
    forbidden_snippets: snippets,
    command_checks: list(
      z
        .object({
          label: name,
          command: shellOrArgv,
          expected: orElse(anyText, ''),
          timeout_seconds: orElse(seconds, 60),
        })
        .transform(camelCased),
    ),
    min_insertions: count.nullish(),
    max_insertions: count.nullish(),
    min_deletions: count.nullish(),
    max_deletions: count.nullish(),
  })
  .transform(camelCased);

const softEvaluationSchema = z
  .object({
    enabled: orElse(flag, true),
    mode: orElse(z.enum(['payload-only']), 'payload-only'),
    max_score: orElse(z.number().positive(), 10),
    rubric: list(
      z.object({
        name,
        weight: orElse(z.number().positive(), 1),
        description: orElse(anyText, ''),
      }),
    ),
  })
  .transform(camelCased);

export const taskSchema = z.object({
  id: name.refine((value) => !/\p{Cc}/u.test(value), 'must not contain a control character'),
  prompt: text,
  follow_ups: z.array(text).nullish(),
  title: anyText.nullish(),
  category: anyText.nullish(),
  difficulty: anyText.nullish(),
  repo_ref: name.nullish(),
  setup: z.array(shellOrArgv).nullish(),
  setup_timeout_seconds: seconds.nullish(),
  setup_env: z.record(variableName, environmentValue).nullish(),
  validation: commandListKeys.extend({ tests: taskTestsSchema.nullish() }).transform(camelCased).nullish(),
  hidden_tests: text.nullish(),
  gold_patch: text.nullish(),
  overlays: z.array(z.unknown()).nullish(),
  side_effects: z.enum(['none']).nullish(),
  output_schema: z.union([text, z.record(z.string(), z.unknown())]).nullish(),
  protected_paths: z.array(treeGlob).nullish(),
  changeable_paths: z.array(treeGlob).nullish(),
  timeout_seconds: seconds.nullish(),
  expected_outcome: expectedOutcomeSchema.nullish(),
  hard_evaluation: hardEvaluationSchema.nullish(),
  soft_evaluation: softEvaluationSchema.nullish(),
});

export type ExpectedOutcome = z.output<typeof expectedOutcomeSchema>;
/** Deterministic checks besides the validation commands. */
export type HardEvaluation = z.output<typeof hardEvaluationSchema>;
/** What a reviewer of a case scores. */
export type SoftEvaluation = z.output<typeof softEvaluationSchema>;
/** The runners whose reports Whetstone reads. */
export type TestRunnerName = (typeof testRunnerNames)[number];
export type RawTask = z.infer<typeof taskSchema>;
export type RawAgent = z.infer<typeof agentSchema>;

/** TypeScript and YAML 1.1 readers write `true` and `false` for a switch. */
function readSwitch(value: unknown): unknown {
  return typeof value === 'boolean' ? (value ? 'on' : 'off') : value;
}

/** YAML 1.1 readers, context-eval's among them, take these words for booleans; YAML 1.2 reads text. */
function readFlag(value: unknown): unknown {
  if (typeof value !== 'string') return value;
  if (/^(true|yes|on)$/i.test(value)) return true;
  if (/^(false|no|off)$/i.test(value)) return false;
  return value;
}

function globProblem(glob: string): string | undefined {
  if (glob.trim() === '') return 'it is empty';
  if (glob.startsWith('!')) return 'a negated pattern protects nothing by itself';
  if (glob.startsWith('/')) return 'it is absolute; write it relative to the root of the tree';
  if (glob.split('/').includes('..')) return 'it leaves the tree (..)';
  try {
    picomatch.makeRe(glob);
    return undefined;
  } catch (error) {
    return messageOf(error);
  }
}
