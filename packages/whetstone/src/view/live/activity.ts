import { isJsonObject, type JsonObject } from '@whetstone/events';
import { caseLayout, runLayout } from '../../record/layout.ts';
import type { ReadRun } from '../../record/read-run.ts';
import type { Activity, RunningCase } from '../api.ts';
import { unlinkedPath } from '../case-files.ts';
import { growingLines } from './growing-lines.ts';

const RUNNING_SHOWN = 100;
const DOING_CHARACTERS = 200;

/** Follows the running cases of a run. Each call of `next` reads only what is new. */
export function followActivity(): { next(run: ReadRun): Promise<Activity> } {
  const cases = new Map<string, FollowedCase>();
  return {
    async next(run) {
      const { manifest, rows, started = new Set() } = run;
      const running = manifest.case_matrix.filter(({ case_id: id }) => started.has(id) && !rows.has(id));
      for (const id of cases.keys()) if (!running.some((one) => one.case_id === id)) cases.delete(id);
      const shown: RunningCase[] = [];
      for (const { case_id, agent_name, task_id, variant, trial_index } of running.slice(0, RUNNING_SHOWN)) {
        const followed = cases.get(case_id) ?? followCase(run.directory, case_id);
        cases.set(case_id, followed);
        await followed.update();
        shown.push({ case_id, agent_name, task_id, variant, trial_index, ...followed.state });
      }
      const ended = [...rows.values()];
      const cost = sum([...ended, ...shown].map(({ cost_usd }) => cost_usd));
      const tokens = sum([...ended.map((row) => row.total_tokens), ...shown.map((one) => one.tokens)]);
      return {
        finished: rows.size,
        planned: manifest.case_count,
        ...{ cost_usd: cost.known, cost_unknown: cost.unknown },
        ...{ tokens: tokens.known, tokens_unknown: tokens.unknown },
        running: shown,
      };
    },
  };
}

function sum(values: readonly (number | null)[]): { known: number | null; unknown: number } {
  const known = values.filter((value) => value !== null);
  return {
    known: known.length === 0 ? null : known.reduce((total, value) => total + value, 0),
    unknown: values.length - known.length,
  };
}

type FollowedState = Pick<RunningCase, 'doing' | 'at' | 'tool_calls' | 'model_calls' | 'tokens' | 'cost_usd'>;
type FollowedCase = { state: FollowedState; update(): Promise<void> };

function followCase(directory: string, caseId: string): FollowedCase {
  const files = caseLayout(runLayout(directory).case(caseId));
  const [events, calls] = [growingLines(files.events), growingLines(files.modelCalls)];
  const state: FollowedState = {
    ...{ doing: null, at: null, tool_calls: 0 },
    ...{ model_calls: null, tokens: null, cost_usd: null },
  };
  return {
    state,
    async update() {
      const isOwn = (path: string) => unlinkedPath({ runDirectory: directory, caseId }, path);
      if (await isOwn(files.events))
        for (const event of (await events.next()).values) readEvent(state, event);
      if (await isOwn(files.modelCalls))
        for (const call of (await calls.next()).values) readCall(state, call);
    },
  };
}

function readEvent(state: FollowedState, event: JsonObject): void {
  const { type, at, name, input, role, text } = event;
  if (type === 'action.called' || type === 'subagent.called') {
    state.tool_calls += 1;
    state.doing = short(`${textOf(name)} ${firstText(input)}`);
  } else if (type === 'message' && role === 'assistant') state.doing = short(`says: ${textOf(text)}`);
  else if (type === 'thinking') state.doing = 'thinks';
  else return;
  state.at = textOf(at) || null;
}

function readCall(state: FollowedState, { usage, cost_usd: cost }: JsonObject): void {
  state.model_calls = (state.model_calls ?? 0) + 1;
  if (isJsonObject(usage)) {
    for (const kind of ['inputTokens', 'cacheReadTokens', 'cacheWriteTokens', 'outputTokens']) {
      const count = usage[kind];
      if (typeof count === 'number') state.tokens = (state.tokens ?? 0) + count;
    }
  }
  if (typeof cost === 'number') state.cost_usd = (state.cost_usd ?? 0) + cost;
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');

const firstText = (input: unknown): string =>
  isJsonObject(input)
    ? textOf(Object.values(input).find((value) => typeof value === 'string'))
    : textOf(input);

const short = (text: string): string =>
  Array.from(text.trim().slice(0, 2000)).slice(0, DOING_CHARACTERS).join('');
