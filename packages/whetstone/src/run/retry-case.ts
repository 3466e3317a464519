import { readFile } from 'node:fs/promises';
import type { Agent, DeclaredContext } from '@whetstone/agents';
import { present } from '@whetstone/events/present';
import type { Attempt, Lab } from '../attempt/lab.ts';
import { runAttempt } from '../attempt/run-attempt.ts';
import type { Config } from '../config/config.ts';
import { renderPrompt } from '../config/render-prompt.ts';
import type { PlannedCase } from '../plan/plan.ts';
import type { CaseRow } from '../record/row.ts';
import { earlierAttempts } from './earlier-attempts.ts';

/** What the cases of a run share. */
export type CaseLab = Lab & {
  config: Config;
  agents: ReadonlyMap<string, Agent>;
  /** Keyed by the name of the variant. */
  contexts: ReadonlyMap<string, DeclaredContext>;
};

/** How often a case is attempted again after an infrastructure error. */
const INFRASTRUCTURE_RETRIES = 1;

/**
 * Runs one case, again after an infrastructure error, and records its row. In a resumed run, what the attempts used that ended in
 * an error or were interrupted counts as well. Resolves with `undefined` when aborted.
 */
export async function runWithRetry(
  planned: PlannedCase,
  lab: CaseLab,
  options: {
    signal: AbortSignal;
    onRetry: (evidence: string) => void;
    onProgress: NonNullable<Attempt['onProgress']>;
  },
): Promise<CaseRow | undefined> {
  const described = await describeAttempt(planned, lab);
  let earlier = earlierAttempts(described, lab);
  for (let retries = 0; ; retries++) {
    const attempt = {
      ...described,
      signal: options.signal,
      onProgress: options.onProgress,
      ...present({ earlier }),
    };
    const row = await runAttempt(attempt, lab).catch((error: unknown) => {
      if (options.signal.aborted) return undefined;
      throw error;
    });
    if (!row) return undefined;
    if (!TRANSIENT.includes(row.failure_class) || retries >= INFRASTRUCTURE_RETRIES) {
      await lab.record.finishCase(row);
      return row;
    }
    earlier = row;
    const evidence = row.evidence ?? '';
    await lab.record.retryCase(planned.id, { class: row.failure_class ?? 'harness', evidence });
    options.onRetry(evidence);
  }
}

const TRANSIENT: readonly CaseRow['failure_class'][] = ['sandbox', 'provider-limit', 'provider-outage'];

async function describeAttempt(
  planned: PlannedCase,
  lab: CaseLab,
): Promise<Omit<Attempt, 'earlier' | 'signal' | 'onProgress'>> {
  const { config } = lab;
  const agent = lab.agents.get(planned.agent);
  const agentConfig = config.agents.find(({ name }) => name === planned.agent);
  const task = config.tasks.find(({ id }) => id === planned.task);
  const variant = config.variants.find(({ name }) => name === planned.variant);
  const context = lab.contexts.get(planned.variant);
  const commit = lab.record.manifest.tasks.find(({ id }) => id === planned.task)?.commit;
  if (!agent || !agentConfig || !task || !variant || !context || !commit) {
    throw new Error(`Case ${planned.id} names what the configuration does not have.`);
  }
  const { promptTemplate } = agentConfig;
  const template = promptTemplate && {
    text: await readFile(promptTemplate, 'utf8'),
    variant: variant.name,
    repoRef: task.repoRef ?? config.repo.baseRef,
  };
  const prompt = renderPrompt(task, template || undefined);
  return { planned, agent, agentConfig, task, variant, context, commit, prompt };
}
