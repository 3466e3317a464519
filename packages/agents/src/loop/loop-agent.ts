import type { ErrorCode } from '@whetstone/errors';
import { totalTokens } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import type { Session, SessionOptions, SubmitResult } from '@whetstone/loop';
import { createMask, type Mask } from '@whetstone/sandbox';
import { OutputFile } from '@whetstone/sandbox/process';
import { type Agent, type AgentContext, defineSandboxAgent, type Turn, type TurnExit } from '../agent.ts';
import type { LoopAgentConfig, LoopOptions } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import type { DeclaredSkill } from '../kit/declared-context.ts';
import { refuseUnsupported } from '../kit/input-items.ts';
import { placeContext } from '../kit/place-context.ts';
import { textTail } from '../kit/text-tail.ts';
import { createTurnEvents, type TurnEvents } from '../kit/turn-events.ts';
import { contextPlacesOf } from '../native/context-places.ts';
import type { AskHuman } from '../policy/policy.ts';
import { loopDefaults } from './loop-defaults.ts';
import { loopKey, loopKeyVariable } from './loop-key.ts';
import { keepSnapshot, readSnapshot, sessionLost } from './loop-snapshots.ts';
import { createSandboxEnvironment } from './sandbox-environment.ts';

const MESSAGE_BYTES = 4 * 1024;
const LONGEST_TIMER_MS = 2 ** 31 - 1;

/**
 * Our own coding-agent loop, in this process; its tools run in the sandbox. The loop reaches its model through the lane
 * when the turn has one, else at the provider with the user's key. Commands never get that key.
 */
export function createLoopAgent(
  config: LoopAgentConfig,
  agentEnvironment: AgentEnvironment,
  user: { environment: NodeJS.ProcessEnv; hasLanes: boolean },
): Agent {
  const { loop } = config;
  const key = loopKey(config, agentEnvironment.env, user);
  const { [loopKeyVariable(config)]: _key, ...env } = agentEnvironment.env;
  const mask = createMask(agentEnvironment.secrets);
  return defineSandboxAgent({
    name: config.name,
    capabilities: { conversation: true, toolObservability: true, structuredOutput: true },
    async send(input, context) {
      refuseUnsupported(input, [], config.name);
      const endpoint = endpointOf(loop, context, key);
      const library = await import('@whetstone/loop');
      const deadline = AbortSignal.timeout(Math.min(context.timeoutMs, LONGEST_TIMER_MS));
      const signal = AbortSignal.any([context.signal, deadline]);
      const turn = createTurnEvents(context);
      await placeContext(config, context);
      const environment = createSandboxEnvironment(context.sandbox, { env, mask });
      const { provider, model: defaultModel } = loopDefaults[loop.profile];
      const client = new library.Client({ providers: { [provider]: endpoint } });
      const { model, profile } = client.resolve(`${provider}/${loop.model ?? context.model ?? defaultModel}`);
      const { declared, files, sandbox } = context;
      const skillsFolder = `${sandbox.home}/${contextPlacesOf(config).skills}`;
      const userInstructions = declared && describeSkills(skillsFolder, declared.skills);
      await using mcp = await library.connectMcpServers(declared?.mcpServers ?? [], { environment, signal });
      for (const tool of mcp.tools) profile.toolRegistry.register(tool);
      await using session = await openSession(library, context, {
        model,
        profile,
        environment,
        config: present({
          reasoningEffort: loop.reasoningEffort,
          maxToolRoundsPerInput: loop.maxToolRounds,
        }),
        ...present({ userInstructions }),
        signal,
        askUser: context.ask !== undefined,
        persist: (snapshot) => keepSnapshot(files.stateDir, snapshot),
      });
      context.session.id = session.id;
      if (context.ask) answerQuestions(session, context.ask);
      // MCP servers know more secrets than commands do, and the model reads their output unmasked.
      const maskOfKept = createMask([...agentEnvironment.secrets, ...(declared?.secrets ?? [])]);
      const uncounted = watchUncounted(session);
      await using _log = follow(session, library.createStreamEventMapper(), turn, {
        file: files.stdoutFile,
        mask: maskOfKept,
      });
      for (const { message } of mcp.problems)
        turn.add({ type: 'error', message: maskOfKept.text(message), source: 'host' });
      // A session whose signal has fired is closed and accepts no input.
      const result: Result = signal.aborted
        ? { reason: 'aborted' }
        : await session.submit(input.text, input.outputSchema && { outputSchema: input.outputSchema });
      // Before the log is closed, because the log has to hold the session's last event.
      await session.close();
      const ended = context.signal.aborted ? 'abort' : deadline.aborted ? 'timeout' : 'exit';
      return toTurn(turn, result, { ended, hasUncounted: uncounted() });
    },
  });
}

/** Gives the questions of the model to who answers in place of a person, and its answers to the session. */
function answerQuestions(session: Session, ask: AskHuman): void {
  session.on((event) => {
    if (event.kind !== 'INPUT_REQUESTED') return;
    const { callId, question: text, options } = event.data;
    const request = { kind: 'question', callId, questions: [{ id: callId, text, options }] } as const;
    const answering = async () => {
      const decided = await ask(request);
      const given = decided?.answers?.[callId]?.join(', ');
      const nobody = 'Nobody answers. Decide by yourself.';
      await session.submit(given || (decided?.decision === 'approved' ? 'Yes.' : decided ? 'No.' : nobody));
    };
    // The turn itself reports how it ended, also when the session has ended in between.
    answering().catch(() => undefined);
  });
}

/** The lane, unless the configuration names another base URL. There, and without a lane, the user's own key is used. */
function endpointOf(loop: LoopOptions, { lane }: AgentContext, key = '') {
  if (lane && loop.baseUrl === undefined) return { baseUrl: lane.baseUrl, apiKey: lane.key };
  return { apiKey: key, ...present({ baseUrl: loop.baseUrl }) };
}

/** Loaded on use, because a run without this agent does not need it. */
type Library = typeof import('@whetstone/loop');

async function openSession(
  { Session }: Library,
  { session: { isNew, id }, files }: AgentContext,
  options: SessionOptions,
): Promise<Session> {
  if (isNew || id === undefined) return new Session(options);
  const snapshot = await readSnapshot(files.stateDir, id);
  try {
    return Session.restore(snapshot, options);
  } catch (error) {
    throw sessionLost(id, error);
  }
}

/** Converts the session's events to those of the turn. Writes the native ones, except deltas, as masked JSON Lines. */
function follow(
  session: Session,
  toStreamEvents: ReturnType<Library['createStreamEventMapper']>,
  turn: TurnEvents,
  { file, mask }: { file: string; mask: Mask },
): AsyncDisposable {
  const log = new OutputFile(file, { append: true });
  const stop = session.on((event) => {
    for (const mapped of toStreamEvents(event)) turn.add(mapped);
    if (!event.kind.endsWith('_DELTA')) log.write(Buffer.from(`${mask.text(JSON.stringify(event))}\n`));
  });
  return {
    async [Symbol.asyncDispose]() {
      stop();
      log.close();
      if (log.error) throw log.error;
    },
  };
}

/** Error codes of the loop that the provider caused. The loop has already retried what may pass. */
const PROVIDER_ERRORS: Partial<Record<ErrorCode, NonNullable<TurnExit['providerError']>>> = {
  'model-rate-limit': 'limit',
  'model-quota-exceeded': 'limit',
  'model-server-error': 'outage',
  'model-timeout': 'outage',
  'model-network-failed': 'outage',
  'model-stream-broken': 'outage',
  'model-response-empty': 'outage',
  'model-authentication-failed': 'access',
  'model-access-denied': 'access',
};

/** Whether a model call of the session, or of its subagents, has a usage that nobody saw, from now on. */
function watchUncounted(session: Session): () => boolean {
  let hasUncounted = false;
  session.on(({ kind, data }) => {
    hasUncounted ||= kind === 'LLM_CALL_END' && data.unseenUsage !== undefined;
  });
  return () => hasUncounted;
}

type Result = Pick<SubmitResult, 'reason'> & Partial<SubmitResult>;

function toTurn(
  { events }: TurnEvents,
  result: Result,
  { ended, hasUncounted }: { ended: TurnExit['ended']; hasUncounted: boolean },
): Turn {
  const { error, output } = result;
  // Sums of nothing, or without a part, are not what the turn used.
  const isKnown = !hasUncounted && result.usage !== undefined && totalTokens(result.usage) > 0;
  const message = error ? `${result.reason}: ${textTail(error.message, MESSAGE_BYTES)}` : result.reason;
  const providerError = error && PROVIDER_ERRORS[error.code];
  return {
    events,
    status: result.reason === 'completed' ? 'completed' : 'failed',
    ...present({ data: output }),
    ...(isKnown && present({ usage: result.usage, costUsd: result.costUsd })),
    exit: {
      ended,
      ...(result.reason !== 'completed' && { message }),
      ...(ended === 'exit' && providerError && { providerError }),
    },
    facts: { runtime: 'loop', approvalPolicy: 'never' },
    telemetry: {
      ...{ status: 'unavailable', source: 'none' },
      evidenceGaps: isKnown ? [] : ['usage_missing'],
    },
  };
}

/**
 * The prompt's text about skills, because our loop has no tool for them: names, descriptions and files, and that the model
 * shall read the file of a skill that fits (https://agentskills.io, "filesystem-based agents"). `folder` is absolute.
 */
function describeSkills(folder: string, skills: readonly DeclaredSkill[]): string | undefined {
  if (skills.length === 0) return undefined;
  const entries = skills.map(
    ({ name, description }) =>
      `- ${name}: ${description.replaceAll(/\s+/g, ' ')} (file: ${folder}/${name}/SKILL.md)`,
  );
  return `## Skills

A skill is a folder with instructions for one kind of work. When the work in hand is what the description of a skill says, read the skill's file before you begin, and do as it says. Paths in it are relative to its folder. Read no other skill.

${entries.join('\n')}`;
}
