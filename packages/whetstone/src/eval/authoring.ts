/** What evals and experiments are written with: the part of `whetstone` that the process of the evals loads. */

export { requireEnv } from '@whetstone/agents/evals';
export { WhetstoneError } from '@whetstone/errors';
export {
  type AgentAdapter,
  defineConfig,
  defineEval,
  defineExperiment,
  defineTasks,
  type EvalDefinition,
  type EveryCapability,
  type ExperimentDefinition,
  type ExperimentVariant,
  type JudgeDefinition,
  type ProjectDefinition,
  type TasksDefinition,
} from './define.ts';
export type {
  Answer,
  Message,
  Question,
  Responder,
  SimulatedUser,
  TestContext,
  TestSession,
  TestTurn,
} from './test-context.ts';

// What to compare values, tool calls and commands with.

export { calling, editing, reading, running, saying, seeing } from './assertions/activities.ts';
export { first, firstEdit, last, lastEdit } from './assertions/moments.ts';
export { commandMatch, referencesAnyPath } from './expect/commands.ts';
export { jsonMatch } from './expect/json-match.ts';
export { and, not, or } from './expect/logic.ts';
export { scored } from './expect/scored.ts';
export { excludes, includes, pattern, similarity } from './expect/texts.ts';
export { commandSucceeded, toolMatch } from './expect/tools.ts';
export { equals, isDefined, isFalse, isTrue, matches, satisfies } from './expect/values.ts';
