import { createHash } from 'node:crypto';
import type { JsonObject, JsonValue } from '../json.ts';
import { isJsonObject } from '../json.ts';
import { type Loss, tallyLosses } from '../loss.ts';
import { present } from '../present.ts';
import { eventsByAgent, groupSteps, loseUnstarted, type StepCall } from '../steps/group-steps.ts';
import type { StreamEvent } from '../stream-event.ts';
import { addUsage, totalTokens, type Usage } from '../usage.ts';

/** One case as a sample of Inspect. */
export type InspectSampleSource = {
  id: string;
  /** Counted from 1. */
  epoch: number;
  input: string;
  events: readonly StreamEvent[];
  /** Passed (`C`) or not (`I`), with why. Absent: the case has no result. */
  score?: { passed: boolean; explanation: string };
  /** What ended a case without a result. */
  error?: string;
  usage?: { model: string; usage: Usage; costUsd?: number };
  /** Seconds. */
  totalTime?: number;
  startedAt?: string;
  metadata?: JsonObject;
};

export type InspectLogOptions = {
  task: string;
  runId: string;
  model: string;
  /** ISO time. */
  created: string;
  scorer: string;
  /** How often each task was tried. */
  epochs: number;
  metadata?: JsonObject;
};

/**
 * Writes an Inspect log in its JSON form (`.json`, version 2), which `inspect view` and `read_eval_log` take. A sample has the
 * conversation of the main agent as messages, its score and its usage; the transcript of events stays empty, because a
 * stream does not hold the requests of model calls.
 * @returns the log, and what it could not carry.
 */
export function writeInspectLog(
  sources: readonly InspectSampleSource[],
  { task, runId, model, created, scorer, epochs, metadata = {} }: InspectLogOptions,
): { log: JsonObject; lost: Loss[] } {
  const losses = tallyLosses();
  const ids = [...new Set(sources.map(({ id }) => id))];
  const scored = sources.filter(({ score }) => score !== undefined);
  const passed = scored.filter(({ score }) => score?.passed).length;
  const log = {
    version: 2,
    status: 'success',
    eval: {
      ...{ eval_id: shortId(`eval ${runId} ${model}`), run_id: runId, created, task },
      ...{ task_id: shortId(`task ${task}`), task_version: 0, task_attribs: {}, task_args: {} },
      dataset: { name: task, samples: ids.length, sample_ids: ids, shuffled: false },
      ...{ model, model_args: {}, model_generate_config: {} },
      config: { epochs },
      packages: {},
      metadata,
    },
    plan: { name: 'plan', steps: [], config: {} },
    results: {
      total_samples: sources.length,
      completed_samples: scored.length,
      scores: [
        {
          ...{ name: scorer, scorer, params: {} },
          metrics:
            scored.length === 0
              ? {}
              : { accuracy: { name: 'accuracy', value: passed / scored.length, params: {} } },
        },
      ],
    },
    stats: { ...timesOf(sources), model_usage: usageByModel(sources) },
    samples: sources.map((source) => sampleOf(source, scorer, losses)),
  };
  return { log: log as unknown as JsonObject, lost: losses.list() };
}

/** From the first start to the last end, as ISO times. Empty where nobody knows it, as Inspect has it. */
function timesOf(sources: readonly InspectSampleSource[]) {
  const spans = sources.flatMap(({ startedAt, totalTime }) =>
    startedAt === undefined ? [] : { start: Date.parse(startedAt), seconds: totalTime },
  );
  const iso = (time: number) => (Number.isFinite(time) ? new Date(time).toISOString() : '');
  const start = Math.min(...spans.map((span) => span.start));
  const end = Math.max(...spans.map(({ start: from, seconds }) => from + 1000 * (seconds ?? Number.NaN)));
  return { started_at: iso(start), completed_at: iso(end) };
}

/** What all samples took of each model; absent where it is unknown of one of them. */
function usageByModel(sources: readonly InspectSampleSource[]) {
  if (sources.some(({ usage }) => usage === undefined)) return {};
  const known = sources.flatMap(({ usage }) => usage ?? []);
  return Object.fromEntries(
    [...Map.groupBy(known, ({ model }) => model)].map(([model, all]) => [
      model,
      usageOf(all.map(({ usage }) => usage).reduce(addUsage)),
    ]),
  );
}

/** Inspect's ids are 22 letters and digits. The same source gives the same id. */
const shortId = (text: string): string =>
  createHash('sha256').update(text).digest('base64url').replaceAll(/[-_]/g, '0').slice(0, 22);

function sampleOf(source: InspectSampleSource, scorer: string, losses: ReturnType<typeof tallyLosses>) {
  const { id, epoch, input, events, score, error, usage, metadata = {} } = source;
  return {
    ...{ id, epoch, input, target: '' },
    uuid: shortId(`${id} ${epoch} ${JSON.stringify(metadata)}`),
    messages: [
      { id: 'input', role: 'user', source: 'input', content: input },
      ...messagesOf(events, input, losses),
    ],
    output: { model: usage?.model ?? '', choices: [] },
    scores: score ? { [scorer]: { value: score.passed ? 'C' : 'I', explanation: score.explanation } } : {},
    ...{ metadata, store: {}, events: [], attachments: {} },
    model_usage: usage ? { [usage.model]: usageOf(usage.usage, usage.costUsd) } : {},
    ...present({ started_at: source.startedAt, total_time: source.totalTime }),
    ...(error !== undefined && { error: { message: error, traceback: '', traceback_ansi: '' } }),
  };
}

/** A bucket that nobody reported stays absent. */
function usageOf(usage: Usage, cost?: number) {
  return present({
    input_tokens: usage.inputTokens,
    output_tokens: usage.outputTokens,
    total_tokens: totalTokens(usage),
    input_tokens_cache_read: usage.cacheReadTokens,
    input_tokens_cache_write: usage.cacheWriteTokens,
    reasoning_tokens: usage.reasoningTokens,
    total_cost: cost,
  });
}

/** The conversation of the main agent. The first message of the user is the input again. */
function messagesOf(
  events: readonly StreamEvent[],
  input: string,
  losses: ReturnType<typeof tallyLosses>,
): object[] {
  const agents = eventsByAgent(events);
  const main = agents.get(undefined) ?? [];
  agents.delete(undefined);
  const messages: object[] = [];
  let isFirst = true;
  for (const [index, step] of groupSteps(main).entries()) {
    const id = `step-${index}`;
    if (step.kind === 'user') {
      if (!isFirst || step.message.text !== input)
        messages.push({ id, role: 'user', content: step.message.text });
      isFirst = false;
    } else if (step.kind === 'agent') {
      const { thinking, message, calls } = step;
      const parts = [
        ...(thinking ? [{ type: 'reasoning', reasoning: thinking.text }] : []),
        ...(message ? [{ type: 'text', text: message.text }] : []),
      ];
      messages.push({
        ...{ id, role: 'assistant', source: 'generate', content: parts },
        ...(calls.length > 0 && { tool_calls: calls.map(callOf) }),
        ...present({ model: step.usage?.model }),
      });
      messages.push(...calls.flatMap((call) => resultsOf(call, id)));
    } else if (!['session.started', 'usage', 'file.changed', 'raw'].includes(step.event.type)) {
      losses.add(step.event.type, 'a conversation of Inspect has no place for it');
    }
  }
  loseUnstarted(agents, losses);
  return messages;
}

function callOf({ callId, action, subagent }: StepCall) {
  const input = action?.input;
  return {
    ...{ id: callId, type: 'function', function: action?.name ?? subagent?.name ?? 'unknown' },
    arguments: input !== undefined && isJsonObject(input) ? input : input === undefined ? {} : { input },
  };
}

const resultsOf = ({ callId, action, subagent, results }: StepCall, id: string): object[] =>
  results.slice(0, 1).map((result) => ({
    ...{ id: `${id}-${callId}`, role: 'tool', tool_call_id: callId, content: textOf(result.output) },
    function: action?.name ?? subagent?.name ?? 'unknown',
    ...(result.status !== 'completed' && { error: { type: 'unknown', message: result.status } }),
  }));

const textOf = (value: JsonValue | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value);
