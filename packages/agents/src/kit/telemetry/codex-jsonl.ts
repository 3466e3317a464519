import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { present } from '@whetstone/events/present';
import type { ConfinedFiles } from '@whetstone/sandbox';
import type { Telemetry } from '../../agent.ts';
import type { Command, TelemetryConfig } from '../../config.ts';
import { type CodexUsage, usageSince } from '../../native/codex-cli/items.ts';
import { type CodexFacts, createCodexMapper } from '../../native/codex-cli/stream.ts';
import { type JsonLinesSummary, readJsonLines } from '../read-json-lines.ts';
import type { Collector, CollectorPlace } from './collector.ts';

/**
 * Reads what `codex exec --json` prints: events as they happen, then usage, tool calls, the model and what of it all
 * is missing. The stream is kept as the file that the configuration names, beside the agent's other output, with all
 * turns of the session.
 */
export function createCodexCollector(
  config: TelemetryConfig,
  { workdir }: CollectorPlace,
  files: ConfinedFiles,
): Collector {
  let mapper = createCodexMapper({ workdir });
  let stream = readJsonLines(mapper, () => {});
  let before: CodexUsage | undefined;
  return {
    source: 'codex-jsonl',
    prepare({ isNew, emit }) {
      before = isNew ? undefined : (mapper.facts.threadUsage ?? before);
      mapper = createCodexMapper({ workdir }, before);
      stream = readJsonLines(mapper, emit);
      return { env: {} };
    },
    read: (chunk) => stream.push(chunk),
    async collect({ command, files: { stdoutFile } }) {
      const summary = stream.end();
      await files.write(config.file, createReadStream(stdoutFile));
      const { usage, failure, ending, sessionId } = summary;
      const { threadUsage, ...facts } = mapper.facts;
      const turnUsage = threadUsage && usageSince(before, threadUsage);
      return {
        telemetry: await toTelemetry({ ...summary, ...facts, ...present({ turnUsage }) }, command, workdir),
        saw: 'events',
        ...present({ usage, sessionId }),
        ...(failure !== undefined && ending !== 'completed' && { failure }),
      };
    },
  };
}

type CodexSummary = JsonLinesSummary & Omit<CodexFacts, 'threadUsage'> & { turnUsage?: CodexUsage };

async function toTelemetry(summary: CodexSummary, command: Command, workdir: string): Promise<Telemetry> {
  const { turnUsage: usage } = summary;
  const modelName = optionOf(command, ['--model', '-m']) ?? summary.model;
  const evidenceGaps = await gapsOf(summary, modelName, command, workdir);
  const callCount = [...summary.toolCalls.values()].reduce((sum, calls) => sum + calls, 0);
  return {
    status:
      summary.lines === summary.malformed + summary.tooLong
        ? 'unavailable'
        : evidenceGaps.length > 0
          ? 'partial'
          : 'collected',
    source: 'codex-jsonl',
    ...present({ error: summary.failure }),
    ...(usage && {
      promptTokens: usage.input_tokens,
      cachedInputTokens: usage.cached_input_tokens,
      completionTokens: usage.output_tokens,
      totalTokens: usage.input_tokens + usage.output_tokens,
      reasoningTokens: usage.reasoning_output_tokens,
    }),
    toolCallCount: callCount,
    toolCallsByName: Object.fromEntries(summary.toolCalls),
    commandCallCount: summary.toolCalls.get('command_execution') ?? 0,
    ...present({ modelName }),
    evidenceGaps,
  };
}

async function gapsOf(
  summary: CodexSummary,
  modelName: string | undefined,
  command: Command,
  workdir: string,
): Promise<string[]> {
  const lastMessageFile = optionOf(command, ['--output-last-message', '-o']);
  const gaps = {
    codex_events_empty: summary.lines === 0,
    codex_events_malformed: summary.malformed + summary.tooLong > 0,
    codex_events_truncated: summary.isTruncated,
    codex_usage_missing: summary.turnUsage === undefined,
    codex_model_missing: modelName === undefined,
    codex_final_message_missing: summary.finalMessage === undefined,
    codex_output_last_message_missing:
      lastMessageFile !== undefined &&
      !(await stat(resolve(workdir, lastMessageFile)).catch(() => undefined))?.size,
  };
  return Object.entries(gaps).flatMap(([gap, isThere]) => (isThere ? [gap] : []));
}

/** The value of an option on the command line. In a shell script it is looked for as text, quotes taken off. */
function optionOf(command: Command, names: string[]): string | undefined {
  if (command.kind === 'argv') {
    for (const [index, word] of command.argv.entries()) {
      if (names.includes(word)) return command.argv[index + 1];
      const name = names.find((candidate) => candidate.startsWith('--') && word.startsWith(`${candidate}=`));
      if (name !== undefined) return word.slice(name.length + 1);
    }
    return undefined;
  }
  const option = new RegExp(`(?:^|\\s)(?:${names.join('|')})(?:\\s+|=)(?:"([^"]*)"|'([^']*)'|([^\\s"']+))`);
  const [, double, single, bare] = option.exec(command.script) ?? [];
  return double ?? single ?? bare;
}
