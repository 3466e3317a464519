/**
 * The public surface of `whetstone/expect`: matchers for `t.check` and the assertions, moments for `t.after`, and how far
 * a judge agrees with people.
 */
export { type LabelAgreement, labelAgreement } from './eval/agreement/label-agreement.ts';
export { calling, editing, reading, running, saying, seeing } from './eval/assertions/activities.ts';
export { first, firstEdit, last, lastEdit, type Moment } from './eval/assertions/moments.ts';
export { type CommandConditions, commandMatch, referencesAnyPath } from './eval/expect/commands.ts';
export { jsonMatch } from './eval/expect/json-match.ts';
export { and, not, or } from './eval/expect/logic.ts';
export type { Match, Matcher } from './eval/expect/matcher.ts';
export type {
  EventPattern,
  JsonPattern,
  TextPattern,
  ToolCall,
  ToolConditions,
  ToolPattern,
} from './eval/expect/patterns.ts';
export { type ScorerResult, scored } from './eval/expect/scored.ts';
export type { StandardSchema } from './eval/expect/standard-schema.ts';
export { excludes, includes, pattern, similarity } from './eval/expect/texts.ts';
export { commandSucceeded, toolMatch } from './eval/expect/tools.ts';
export { equals, isDefined, isFalse, isTrue, matches, satisfies } from './eval/expect/values.ts';
