// The names of the adapter reference, one by one: those that a project imports, and the methods of its evals.
import { expect, expectTypeOf, test } from 'vitest';
import type {
  AgentAdapter,
  AgentCapabilities,
  AgentContext,
  CommandResult,
  InputRequest,
  JsonValue,
  RunOpts,
  Sandbox,
  SandboxFile,
  StreamEvent,
  Turn,
  TurnInput,
  Usage,
} from './adapter.ts';
import * as adapter from './adapter.ts';
import { recordsOf, subjectOf } from './eval/assertions/__fixtures__/subject.ts';
import type { AssertionsFor } from './eval/assertions/assertions.ts';
import * as whetstone from './index.ts';

test('the adapter entry has the functions of the reference', () => {
  expect(adapter).toMatchObject({
    defineAgent: expect.any(Function),
    defineSandboxAgent: expect.any(Function),
  });
  expect(Object.keys(adapter.shared)).toEqual(
    expect.arrayContaining([
      ...['prepareWorkspace', 'captureLatestJsonl', 'runValidation', 'injectO11yContext'],
      'sessionIdFromClaudeTranscript',
    ]),
  );
  expect(whetstone.requireEnv).toBe(adapter.requireEnv);
});

test('its types have the fields of the reference', () => {
  expectTypeOf<keyof AgentAdapter>().toEqualTypeOf<'name' | 'capabilities' | 'send'>();
  expectTypeOf<'conversation' | 'toolObservability' | 'workspace'>().toExtend<keyof AgentCapabilities>();
  expectTypeOf<'signal' | 'model' | 'flags' | 'session' | 'log' | 'sandbox'>().toExtend<keyof AgentContext>();
  expectTypeOf<AgentContext['session']>().toEqualTypeOf<{ id?: string | undefined; isNew: boolean }>();
  expectTypeOf<TurnInput['text']>().toEqualTypeOf<string>();
  expectTypeOf<'events' | 'data' | 'status' | 'usage'>().toExtend<keyof Turn>();
  expectTypeOf<Turn['status']>().toEqualTypeOf<'completed' | 'failed' | 'waiting'>();
  expectTypeOf<'inputTokens' | 'outputTokens' | 'cacheReadTokens'>().toExtend<keyof Usage>();
  type SandboxMethod = 'runCommand' | 'runShell' | 'readFile' | 'writeFiles' | 'uploadFiles' | 'stop';
  expectTypeOf<SandboxMethod>().toExtend<keyof Sandbox>();
  expectTypeOf<Parameters<Sandbox['uploadFiles']>[0]>().toExtend<readonly SandboxFile[]>();
  expectTypeOf<'env' | 'cwd' | 'root'>().toExtend<keyof RunOpts>();
  expectTypeOf<'stdout' | 'stderr' | 'exitCode'>().toExtend<keyof CommandResult>();
});

test('every event of the reference is one of ours, with its fields', () => {
  type Reference =
    | { type: 'message'; role: 'assistant' | 'user'; text: string }
    | { type: 'action.called'; callId: string; name: string; input: JsonValue }
    | {
        type: 'action.result';
        callId: string;
        output?: JsonValue;
        status: 'completed' | 'failed' | 'rejected';
      }
    | { type: 'subagent.called'; callId: string; name: string; remoteUrl?: string }
    | { type: 'subagent.completed'; callId: string; output?: JsonValue; status: 'completed' | 'failed' }
    | { type: 'input.requested'; request: InputRequest }
    | { type: 'thinking'; text: string }
    | { type: 'error'; message: string };
  expectTypeOf<Reference>().toExtend<StreamEvent>();
});

const TOOL_METHODS = [
  ...(['calledTool', 'notCalledTool', 'toolOrder', 'usedNoTools', 'maxToolCalls', 'loadedSkill'] as const),
  ...(['calledSubagent', 'noFailedActions', 'event', 'notEvent', 'eventOrder', 'eventsSatisfy'] as const),
];
const WORKSPACE_METHODS = ['fileChanged', 'fileDeleted'] as const;

test('the assertions have the methods of the reference', async () => {
  const names: string[] = [];
  await recordsOf(subjectOf([]), (t) => names.push(...Object.keys(t)));
  expect(names).toEqual(
    expect.arrayContaining([
      ...TOOL_METHODS,
      ...WORKSPACE_METHODS,
      ...['diff', 'maxTokens', 'maxCost', 'outputEquals', 'outputMatches', 'succeeded'],
    ]),
  );
});

test('a capability that is not declared hides its methods', () => {
  type Plain = AssertionsFor<Record<never, never>>;
  type Observed = AssertionsFor<{ toolObservability: true }>;
  type Whole = AssertionsFor<{ toolObservability: true; workspace: true }>;
  type ToolMethod = (typeof TOOL_METHODS)[number];
  type WorkspaceMethod = (typeof WORKSPACE_METHODS)[number];
  expectTypeOf<Extract<keyof Plain, ToolMethod | WorkspaceMethod>>().toBeNever();
  expectTypeOf<Extract<keyof Observed, WorkspaceMethod>>().toBeNever();
  expectTypeOf<ToolMethod>().toExtend<keyof Observed>();
  expectTypeOf<ToolMethod | WorkspaceMethod>().toExtend<keyof Whole>();
  expectTypeOf<'maxTokens' | 'maxCost' | 'succeeded'>().toExtend<keyof Plain>();
});
