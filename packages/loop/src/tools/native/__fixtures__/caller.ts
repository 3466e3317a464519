import type { JsonObject } from '@whetstone/events';
import type { ExecutionEnvironment } from '../../../environment/execution-environment.ts';
import type { RegisteredTool, ToolOutput } from '../../tool.ts';
import { validateArguments } from '../../validate-arguments.ts';

/** Calls tools as the pipeline does: the schema first, then the executor. */
export function caller(
  tools: readonly RegisteredTool[],
  environment: ExecutionEnvironment,
  sessionId = 'session',
) {
  return async (name: string, args: JsonObject): Promise<Exclude<ToolOutput, string>> => {
    const tool = tools.find(({ definition }) => definition.name === name);
    if (!tool) throw new Error(`no tool ${name}`);
    const valid = await validateArguments(tool.definition, JSON.stringify(args));
    if (!valid.ok) throw new Error(valid.reason);
    const output = await tool.executor(valid.args, {
      environment,
      signal: new AbortController().signal,
      callId: 'call',
      sessionId,
      onUpdate: () => {},
      limits: { defaultCommandTimeoutMs: undefined, maxCommandTimeoutMs: 600_000 },
    });
    return typeof output === 'string' ? { content: output } : output;
  };
}
