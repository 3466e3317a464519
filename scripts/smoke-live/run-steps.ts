import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import type { Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import {
  Client,
  LocalExecutionEnvironment,
  type ProviderSettings,
  Session,
  type SessionEvent,
} from '@whetstone/loop';
import type { Endpoint } from './providers.ts';
import { type Step, steps } from './steps.ts';

export type StepResult = {
  title: string;
  /** Why the step failed; absent when it passed. */
  failure?: string;
  durationMs: number;
};

export type ProviderResult = {
  endpoint: Endpoint;
  steps: StepResult[];
  /** Absent when the session did not end normally. */
  usage?: Usage;
};

export type RunOptions = {
  commandTimeoutMs: number;
  signal: AbortSignal;
  onStep: (endpoint: Endpoint, step: StepResult) => void;
};

/** More than any step needs. A model that loops must not become expensive. */
const CONFIG = { maxToolRoundsPerInput: 30 };
const BUDGET = { tokens: 3_000_000, wallTimeMs: 20 * 60_000 };

/** Runs the seven steps in one session with the provider, in a temporary folder. */
export async function runSteps(endpoint: Endpoint, options: RunOptions): Promise<ProviderResult> {
  const { commandTimeoutMs, signal, onStep } = options;
  const directory = await realpath(await mkdtemp(join(tmpdir(), `whetstone-smoke-${endpoint.name}-`)));
  const environment = new LocalExecutionEnvironment({ workingDirectory: directory });
  const requests: string[] = [];
  const { apiKey, baseUrl } = endpoint;
  const settings: ProviderSettings = {
    apiKey,
    ...present({ baseUrl }),
    fetch: (input, init) => {
      requests.push(String(init?.body));
      return fetch(input, init);
    },
  };
  const client = new Client({ providers: { [endpoint.client]: settings } });
  const session = new Session({
    ...client.resolve(endpoint.model),
    environment,
    config: { ...CONFIG, defaultCommandTimeoutMs: commandTimeoutMs },
    budget: BUDGET,
    signal,
  });
  const result: ProviderResult = { endpoint, steps: [] };
  session.on((event) => {
    if (event.kind === 'SESSION_END' && !event.subagent) result.usage = event.data.usage;
  });
  try {
    for (const step of steps) {
      requests.length = 0;
      const started = performance.now();
      const failure = await tryStep(step, { session, directory, requests, commandTimeoutMs });
      signal.throwIfAborted();
      const durationMs = performance.now() - started;
      const done = { title: step.title, durationMs, ...present({ failure }) };
      result.steps.push(done);
      onStep(endpoint, done);
    }
  } finally {
    await session.close();
    await environment.cleanup();
    await rm(directory, { recursive: true, force: true });
  }
  return result;
}

type SmokeRun = {
  session: Session;
  directory: string;
  requests: readonly string[];
  commandTimeoutMs: number;
};

/** Returns why the step failed, or `undefined`. Later steps run even after a failure. */
async function tryStep(step: Step, { session, ...place }: SmokeRun): Promise<string | undefined> {
  const events: SessionEvent[] = [];
  let steering = step.steering;
  const stop = session.on((event) => {
    events.push(event);
    if (event.kind !== 'LLM_CALL_START' || steering === undefined) return;
    const message = steering;
    steering = undefined;
    session.steer(message);
  });
  try {
    await step.prepare?.(place.directory);
    const { reason, text, error } = await session.submit(step.prompt);
    if (reason !== 'completed')
      return error ? `ended with ${reason}: ${error.message}` : `ended with ${reason}`;
    return await step.check({ ...place, events, text });
  } catch (error) {
    return messageOf(error);
  } finally {
    stop();
  }
}
