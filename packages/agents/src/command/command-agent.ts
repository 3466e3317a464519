import { randomUUID } from 'node:crypto';
import { present } from '@whetstone/events/present';
import type { CommandResult, RunOptions, Sandbox } from '@whetstone/sandbox';
import { createMask, type Mask, sandboxPath } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent, type Turn, type TurnInput } from '../agent.ts';
import type { Command, CommandAgentConfig } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import { placeContext } from '../kit/place-context.ts';
import { stoppedMessages } from '../kit/stopped-messages.ts';
import {
  type Collected,
  type Collector,
  createCollector,
  type Preparation,
} from '../kit/telemetry/collector.ts';
import { textTail } from '../kit/text-tail.ts';
import { createTurnEvents, type TurnEvents } from '../kit/turn-events.ts';
import { executableOf } from './executable.ts';
import { findOnPath } from './find-on-path.ts';
import { resumeCommandOf } from './resume-command.ts';
import { renderCommand } from './template.ts';

/** How much of the output becomes an event. The whole of it is in the attempt's files. */
const EVENT_TEXT_BYTES = 16 * 1024;

/** The variables of a command template that a turn has values for. */
type TemplateValues = Parameters<typeof renderCommand>[1];

/** What an agent may call its session: it goes into a command, where it must not pass for an option. */
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/**
 * An agent that runs through a command line: one process per turn, in the sandbox, without standard input. Whetstone
 * makes up the id of a session; an agent with a `resume_command` reports its own id.
 */
export function createCommandAgent(config: CommandAgentConfig, { env, secrets }: AgentEnvironment): Agent {
  const { command: firstTemplate } = config;
  const collectorOf = attemptCollectors(config);
  const resumeTemplate = resumeCommandOf(config);
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: resumeTemplate !== undefined,
      toolObservability: config.telemetry.collector === 'codex-jsonl',
    },
    async send(input, context) {
      const { sandbox, files, session } = context;
      const turn = createTurnEvents(context);
      const template = session.isNew ? firstTemplate : resumeTemplate;
      if (!template) throw new TypeError(`Agent ${config.name} cannot resume a session.`);
      if (session.isNew && resumeTemplate) session.id = randomUUID();
      await placeContext(config, context);
      const mask = createMask([...secrets, ...(context.declared?.secrets ?? [])]);
      const collector = collectorOf(context);
      const preparation = collector.prepare({ isNew: session.isNew, emit: turn.add });
      const command = renderCommand(template, templateValues(input, context, preparation));
      if (!collector.read)
        turn.add({ type: 'session.started', runtime: config.kind, workingDir: sandbox.workdir });
      const result = await run(
        sandbox,
        command,
        runOptions(context, { ...context.lane?.env, ...env, ...preparation.env }, mask, collector),
      );
      const collected = await collector.collect({ command, files });
      const { sessionId } = collected;
      if (config.resumeCommand && sessionId !== undefined && SESSION_ID.test(sessionId))
        session.id = sessionId;
      addOutputEvents(turn, result, collected);
      const notStarted = await isProgramMissing(template, result, env.PATH ?? sandboxPath(process.env.PATH));
      return toTurn(config, turn, { ...result, notStarted }, collected);
    },
  });
}

/** One for each attempt, which has its own sandbox. */
function attemptCollectors(
  config: CommandAgentConfig,
): (context: AgentContext & { sandbox: Sandbox }) => Collector {
  const collectors = new WeakMap<Sandbox, Collector>();
  return ({ sandbox, files: { outputDir } }) => {
    const { workdir, home } = sandbox;
    const collector = collectors.get(sandbox) ?? createCollector(config, { workdir, home, outputDir });
    collectors.set(sandbox, collector);
    return collector;
  };
}

function templateValues(
  input: TurnInput,
  { sandbox, files, lane, session }: AgentContext & { sandbox: Sandbox },
  { telemetryFile }: Preparation,
): TemplateValues {
  return {
    workspace: sandbox.workdir,
    prompt: input.text,
    prompt_file: files.promptFile,
    task_id: files.taskId,
    variant: files.variant,
    output_dir: files.outputDir,
    ...present({ session_id: session.id, telemetry_file: telemetryFile }),
    ...(lane && { gateway_url: lane.baseUrl, gateway_key: lane.key }),
  };
}

function runOptions(
  context: AgentContext,
  env: Record<string, string>,
  mask: Mask,
  collector: Collector,
): RunOptions {
  const { signal, timeoutMs, files } = context;
  return {
    env,
    signal,
    timeoutMs,
    stdoutFile: files.stdoutFile,
    stderrFile: files.stderrFile,
    mask,
    ...(collector.read && { onStdout: (chunk) => collector.read?.(chunk) }),
  };
}

function run(sandbox: Sandbox, command: Command, options: RunOptions): Promise<CommandResult> {
  if (command.kind === 'shell') return sandbox.runShell(command.script, options);
  const [program = '', ...args] = command.argv;
  return sandbox.runCommand(program, args, options);
}

/** Plain output is the agent's message; output that a collector reads has become events already. */
function addOutputEvents(turn: TurnEvents, result: CommandResult, { saw, isCompleted }: Collected): void {
  const message = saw === 'events' ? '' : textTail(result.stdout, EVENT_TEXT_BYTES);
  if (message !== '') turn.add({ type: 'message', role: 'assistant', text: message });
  const failure = failureOf(result);
  if (failure === undefined || (isCompleted && result.ended === 'exit')) return;
  const stderr = textTail(result.stderr, EVENT_TEXT_BYTES);
  turn.add({ type: 'error', message: stderr === '' ? failure : `${failure}\n${stderr}`, source: 'host' });
}

function failureOf({ ended, exitCode }: CommandResult): string | undefined {
  if (ended !== 'exit') return stoppedMessages[ended];
  if (exitCode === 127) return 'The agent was not found (exit code 127).';
  return exitCode === 0 ? undefined : `The agent ended with exit code ${exitCode}.`;
}

function toTurn(
  config: CommandAgentConfig,
  { events }: TurnEvents,
  result: CommandResult & { notStarted: boolean },
  collected: Collected,
): Turn {
  const { telemetry, usage, costUsd, failure, isCompleted } = collected;
  const { ended, exitCode } = result;
  // What we did to the agent explains its end better than what it said before.
  const own = failure ?? (isCompleted ? undefined : failureOf(result));
  const message = ended === 'exit' ? own : failureOf(result);
  return {
    events,
    status: message === undefined ? 'completed' : 'failed',
    exit: {
      ended,
      exitCode,
      ...present({ message }),
      ...(result.notStarted && { notStarted: true }),
    },
    facts: { runtime: config.kind, network: config.network },
    telemetry,
    ...present({ usage, costUsd }),
  };
}

/** Exit codes 126 and 127 are a shell's word for it; an agent can end with them, too, so the host looks itself. */
async function isProgramMissing(
  template: Command,
  { ended, exitCode }: CommandResult,
  searchPath: string,
): Promise<boolean> {
  if (ended !== 'exit' || (exitCode !== 126 && exitCode !== 127)) return false;
  const program = executableOf(template);
  const canTell = program !== undefined && !/[/{]/.test(program);
  return !canTell || (await findOnPath(searchPath)(program)) === undefined;
}
