import { format, join, parse } from 'node:path';
import { codeOf } from '@whetstone/errors';
import type { ConfinedFiles } from '@whetstone/sandbox';
import { z } from 'zod';
import type { Telemetry } from '../../agent.ts';
import type { TelemetryConfig } from '../../config.ts';
import type { TelemetryCollector } from './telemetry-collector.ts';

/** Size limit, because all of the file may become part of a result row. */
const LARGEST_FILE_BYTES = 64 * 1024;

const count = z.number().int().nonnegative();

/** The fields that the file may have: the name in context-eval's rows, our name, and the schema of the value. */
const FIELDS = [
  ['agent_duration_seconds', 'agentDurationSeconds', z.number().nonnegative()],
  ['prompt_tokens', 'promptTokens', count],
  ['cached_input_tokens', 'cachedInputTokens', count],
  ['completion_tokens', 'completionTokens', count],
  ['total_tokens', 'totalTokens', count],
  ['reasoning_tokens', 'reasoningTokens', count],
  ['reasoning_step_count', 'reasoningStepCount', count],
  ['tool_call_count', 'toolCallCount', count],
  ['tool_calls_by_name', 'toolCallsByName', z.record(z.string(), count)],
  ['command_call_count', 'commandCallCount', count],
  ['model_name', 'modelName', z.string().min(1).max(200)],
] as const satisfies [string, keyof Telemetry, z.ZodType][];

/**
 * Reads a JSON object that the agent (or its wrapper) writes. `error` names the fields with a wrong value. The status is
 * then `partial` if other fields are good, otherwise `error`. A file without any known field is `unavailable`. The
 * second turn of a session has its own file, `telemetry-2.json`.
 */
export function createJsonFileCollector(
  config: TelemetryConfig,
  outputDir: string,
  files: ConfinedFiles,
): TelemetryCollector {
  let turns = 0;
  let file = config.file;
  return {
    prepare() {
      turns += 1;
      file = fileOfTurn(config.file, turns);
      const path = join(outputDir, file);
      const { environmentVariable } = config;
      return {
        telemetryFile: path,
        env: environmentVariable === null ? {} : { [environmentVariable]: path },
      };
    },
    async collect() {
      const content = await files.read(file).catch((error: unknown) => {
        if (codeOf(error) === 'ENOENT') return undefined;
        throw error;
      });
      if (!content) return telemetry('unavailable', ['telemetry_file_missing']);
      if (content.length > LARGEST_FILE_BYTES)
        throw new RangeError(`The telemetry file has ${content.length} bytes.`);
      return readFields(JSON.parse(content.toString('utf8')));
    },
  };
}

function fileOfTurn(file: string, turn: number): string {
  if (turn === 1) return file;
  const { dir, name, ext } = parse(file);
  return format({ dir, name: `${name}-${turn}`, ext });
}

function readFields(value: unknown): Telemetry {
  const object = z.record(z.string(), z.unknown()).safeParse(value);
  if (!object.success) throw new TypeError('The telemetry file does not hold a JSON object.');
  const found: Record<string, unknown> = {};
  const wrong: string[] = [];
  for (const [name, field, schema] of FIELDS) {
    if (!Object.hasOwn(object.data, name)) continue;
    const parsed = schema.safeParse(object.data[name]);
    if (parsed.success) found[field] = parsed.data;
    else wrong.push(name);
  }
  const hasGood = Object.keys(found).length > 0;
  const status = wrong.length > 0 ? (hasGood ? 'partial' : 'error') : hasGood ? 'collected' : 'unavailable';
  const read: Telemetry = { ...telemetry(status, []), ...found };
  if (wrong.length > 0) read.error = `Fields with a wrong value: ${wrong.join(', ')}.`;
  if (status === 'unavailable') read.evidenceGaps.push('telemetry_fields_missing');
  if (read.toolCallCount === undefined && read.toolCallsByName) {
    read.toolCallCount = Object.values(read.toolCallsByName).reduce((sum, calls) => sum + calls, 0);
  }
  return read;
}

function telemetry(status: Telemetry['status'], evidenceGaps: string[]): Telemetry {
  return { status, source: 'json-file', evidenceGaps };
}
