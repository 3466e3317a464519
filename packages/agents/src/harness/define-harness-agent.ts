import { randomUUID } from 'node:crypto';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { addUsage, parseJson, type StreamEvent, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Sandbox } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type Turn } from '../agent.ts';
import type { Harness, HarnessControl, HarnessSession } from './harness.ts';
import { HarnessParts } from './harness-parts.ts';
import { harnessSandbox } from './harness-sandbox.ts';

export type HarnessAgentOptions = {
  name: string;
  /** Makes the adapter for a turn, such as `createPi({ … })`. `context` has the lane of the gateway and the model. */
  harness: (context: AgentContext) => Harness | Promise<Harness>;
  /** The model that the adapter is asked for. Default: `context.model`. */
  model?: (context: AgentContext) => string | undefined;
};

type HarnessAgent = Agent<{ conversation: true; toolObservability: true; workspace: true }>;

/**
 * An agent behind an adapter of the AI SDK's harness (`@ai-sdk/harness-pi` and others). The adapter runs in this process,
 * and its tools work in the sandbox of the case. It decides by itself (`permissionMode: 'allow-all'`); a call that it asks
 * about all the same is denied. A further turn resumes its session.
 *
 * @example
 * export default defineHarnessAgent({
 *   name: 'pi',
 *   harness: ({ lane }) => createPi({ providers: { lane: { baseUrl: lane.baseUrl, apiKey: lane.key, … } } }),
 *   model: ({ model }) => `lane/${model}`,
 * });
 */
export function defineHarnessAgent(options: HarnessAgentOptions): HarnessAgent {
  return defineSandboxAgent({
    name: options.name,
    capabilities: { conversation: true, toolObservability: true },
    async send({ text }, context) {
      const { session, sandbox, emit, signal } = context;
      const harness = await options.harness(context);
      const model = options.model ? options.model(context) : context.model;
      const parts = new HarnessParts(sandbox.workdir, model);
      const events: StreamEvent[] = [];
      const add = (event: StreamEvent): void => {
        events.push(event);
        emit(event);
      };
      const running = await start(harness, context);
      session.id = running.id;
      const { id: sessionId } = running;
      add({ type: 'session.started', sessionId, runtime: runtimeOf(harness), workingDir: sandbox.workdir });
      let control: HarnessControl | undefined;
      const early: string[] = [];
      const deny = (approvalId: string): void =>
        void control?.submitToolApproval?.({
          approvalId,
          approved: false,
          reason: 'Nobody may answer here.',
        });
      try {
        control = await running.session.doPromptTurn({
          ...{ prompt: text, skills: [], tools: [], abortSignal: signal },
          ...present({ model }),
          emit(part) {
            for (const event of parts.map(part)) add(event);
            if (part.type !== 'tool-approval-request') return;
            if (control) deny(part.approvalId);
            else early.push(part.approvalId);
          },
        });
        for (const approvalId of early) deny(approvalId);
        await control.done;
        await keepState(context, await running.session.doStop());
      } catch (error) {
        await Promise.resolve(running.session.doDestroy()).catch(() => undefined);
        if (parts.ending !== 'failed') add({ type: 'error', message: messageOf(error) });
        parts.ending = 'failed';
      }
      const facts = { runtime: runtimeOf(harness), own: { mode: PERMISSION_MODE } };
      return { ...toTurn(events, parts), facts };
    },
  });
}

/** Nobody but the sandbox confines the tools: a module has no permissions of its own. */
const PERMISSION_MODE = 'allow-all';

const runtimeOf = ({ harnessId }: Harness): string => `ai-sdk-harness:${harnessId}`;

function toTurn(events: StreamEvent[], { ending, isUsageWhole }: HarnessParts): Turn {
  const sum = events.reduce<Usage | undefined>(
    (sum, event) => (event.type === 'usage' ? (sum ? addUsage(sum, event.usage) : event.usage) : sum),
    undefined,
  );
  const usage = isUsageWhole ? sum : undefined;
  const failed = events.findLast((event) => event.type === 'error');
  if (ending === 'completed') return { events, status: 'completed', ...present({ usage }) };
  const message = failed?.message ?? 'The adapter ended the turn without an answer.';
  if (!failed) events.push({ type: 'error', message });
  return { events, status: 'failed', ...present({ usage }), exit: { ended: 'exit', message } };
}

const stateFile = ({ files }: AgentContext): string => join(files.stateDir, 'harness-session.json');

const keepState = (context: AgentContext, state: object): Promise<void> =>
  writeFile(stateFile(context), JSON.stringify(state), { mode: 0o600 });

/** Starts a session, or resumes the one of the turn before. */
async function start(
  harness: Harness,
  context: AgentContext & { sandbox: Sandbox },
): Promise<{ id: string; session: HarnessSession }> {
  if (harness.getBootstrap !== undefined) {
    throw new Error(
      `${harness.harnessId} installs its runtime in the sandbox and talks to it over a port, and the sandbox of a case exposes none. Only adapters that run in this process work, such as @ai-sdk/harness-pi.`,
    );
  }
  const { sandbox, signal } = context;
  const isResumed = !context.session.isNew && context.session.id !== undefined;
  const id = isResumed ? `${context.session.id}` : randomUUID();
  const session = await harness.doStart({
    ...{ sessionId: id, sessionWorkDir: sandbox.workdir, sandboxSession: harnessSandbox(sandbox) },
    ...{ permissionMode: PERMISSION_MODE, abortSignal: signal },
    ...(isResumed && { resumeFrom: parseJson(await readFile(stateFile(context), 'utf8')) }),
  });
  return { id, session };
}
