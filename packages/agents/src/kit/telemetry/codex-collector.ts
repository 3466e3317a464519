import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import type { ConfinedFiles } from '@whetstone/sandbox';
import type { TelemetryConfig } from '../../config.ts';
import type { CodexStream } from '../../native/codex-cli/stream.ts';
import { gapsAmong } from './evidence-gaps.ts';
import type { TelemetryCollector } from './telemetry-collector.ts';

/**
 * Sums up the output of `codex exec --json`, which the turn reader has read: usage, tool calls, the model, and gaps. It
 * also writes the stream, with all turns of the session, to the file of the configuration, beside the agent's other
 * output.
 */
export function createCodexCollector(
  config: TelemetryConfig,
  workdir: string,
  confined: ConfinedFiles,
): TelemetryCollector {
  return {
    prepare: () => ({ env: {} }),
    async collect({ reading, isUsageWhole, words, files: { stdoutFile } }) {
      await confined.write(config.file, createReadStream(stdoutFile));
      if (reading.source !== 'stream') throw new TypeError('The output was not read as a stream.');
      const { facts } = reading.mapper as CodexStream;
      const { summary } = reading;
      const usage = isUsageWhole ? facts.turnUsage : undefined;
      const modelName = optionOf(words, ['--model', '-m']) ?? facts.model;
      const lastMessageFile = optionOf(words, ['--output-last-message', '-o']);
      const isUnread = summary.lines === summary.malformed + summary.unknown + summary.tooLong;
      const evidenceGaps = gapsAmong({
        codex_events_empty: summary.lines === 0,
        codex_events_malformed: summary.malformed + summary.tooLong > 0,
        codex_events_truncated: summary.isTruncated,
        codex_usage_missing: facts.turnUsage === undefined,
        codex_model_missing: modelName === undefined,
        tool_calls_missing: isUnread,
        codex_final_message_missing: facts.finalMessage === undefined,
        codex_output_last_message_missing:
          lastMessageFile !== undefined && (await isEmpty(resolve(workdir, lastMessageFile))),
      });
      return {
        status: isUnread ? 'unavailable' : evidenceGaps.length > 0 ? 'partial' : 'collected',
        source: 'codex-jsonl',
        ...present({ error: summary.failure }),
        ...(usage && {
          promptTokens: usage.input_tokens,
          cachedInputTokens: usage.cached_input_tokens,
          completionTokens: usage.output_tokens,
          totalTokens: usage.input_tokens + usage.output_tokens,
          reasoningTokens: usage.reasoning_output_tokens,
        }),
        ...(!isUnread && {
          toolCallCount: [...facts.toolCalls.values()].reduce((sum, calls) => sum + calls, 0),
          toolCallsByName: Object.fromEntries(facts.toolCalls),
          commandCallCount: facts.toolCalls.get('command_execution') ?? 0,
        }),
        ...present({ modelName }),
        evidenceGaps,
      };
    },
  };
}

const isEmpty = async (file: string): Promise<boolean> => !(await stat(file).catch(() => undefined))?.size;

function optionOf(words: readonly string[], names: string[]): string | undefined {
  for (const [index, word] of words.entries()) {
    if (names.includes(word)) return words[index + 1];
    const name = names.find((candidate) => candidate.startsWith('--') && word.startsWith(`${candidate}=`));
    if (name !== undefined) return word.slice(name.length + 1);
  }
  return undefined;
}
