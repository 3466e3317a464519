import { randomUUID } from 'node:crypto';
import { present } from '@whetstone/events/present';
import { createMask, type RunOptions, type Sandbox, sandboxPath } from '@whetstone/sandbox';
import { type Agent, type AgentContext, defineSandboxAgent } from '../agent.ts';
import type { Command, CommandAgentConfig } from '../config.ts';
import type { AgentEnvironment } from '../kit/agent-environment.ts';
import type { ProgramEnd } from '../kit/dialogue.ts';
import { runDialogue } from '../kit/dialogue.ts';
import { refuseUnsupported } from '../kit/input-items.ts';
import { createOutputReader } from '../kit/output-reader.ts';
import { placeContext, placeOf } from '../kit/place-context.ts';
import { runTurn, type TurnLaunch, type TurnSetup } from '../kit/run-turn.ts';
import { createTelemetryCollector } from '../kit/telemetry/create-telemetry-collector.ts';
import { nativeAgentOf } from '../native/native-agents.ts';
import { commandWords, renderCommand, resumeCommandOf, runCommandIn } from './command-template.ts';
import { executableOf } from './executable.ts';
import { findOnPath } from './find-on-path.ts';
import { leadOf } from './lead-command.ts';

/** The session ids that an agent may report. An id becomes part of a command and must not look like an option. */
const SESSION_ID = /^[A-Za-z0-9][\w.:-]{0,199}$/;

/** One process per turn, without standard input. Only an agent with a `resume_command` reports its own session id. */
export function createCommandAgent(config: CommandAgentConfig, { env, secrets }: AgentEnvironment): Agent {
  const resumeTemplate = resumeCommandOf(config);
  const setupOf = perAttempt(config);
  return defineSandboxAgent({
    name: config.name,
    capabilities: {
      conversation: resumeTemplate !== undefined,
      toolObservability: config.telemetry.collector === 'codex-jsonl',
    },
    async send(input, context) {
      const { sandbox, session, files, lane, declared } = context;
      const template = session.isNew ? config.command : resumeTemplate;
      if (!template) throw new TypeError(`Agent ${config.name} cannot resume a session.`);
      const lead = leadOf(config, input, context);
      refuseUnsupported(input, lead ? nativeAgentOf(config.kind)?.facts.inputs : [], config.name);
      if (session.isNew && resumeTemplate && !lead) session.id = randomUUID();
      await placeContext(config, context);
      const setup = setupOf(context);
      const preparation = setup.telemetry.prepare();
      const values: Parameters<typeof renderCommand>[1] = {
        ...{ workspace: sandbox.workdir, prompt: input.text, prompt_file: files.promptFile },
        ...{ task_id: files.taskId, variant: files.variant, output_dir: files.outputDir },
        ...present({ session_id: session.id, telemetry_file: preparation.telemetryFile }),
        ...(lane && { gateway_url: lane.baseUrl, gateway_key: lane.key }),
      };
      const command = renderCommand(template, values);
      const run = (options: RunOptions) => runCommandIn(sandbox, command, options);
      const launch: TurnLaunch = {
        run: lead
          ? (options, emit) => runDialogue(run, options, (peer, leaving) => lead(peer, emit, leaving))
          : run,
        env: { ...lane?.env, ...env, ...preparation.env },
        mask: createMask([...secrets, ...(declared?.secrets ?? [])]),
        program: executableOf(template) ?? config.kind,
        words: commandWords(template, values),
        isMissing: (result) => isProgramMissing(template, result, env.PATH ?? sandboxPath(process.env.PATH)),
      };
      // An agent with a command to resume its session is resumed under its own id.
      const onSession = (id: string): void => {
        if (lead || (config.resumeCommand && SESSION_ID.test(id))) session.id = id;
      };
      return await runTurn({ ...setup, onSession }, launch, input, context);
    },
  });
}

type AttemptSetup = Omit<TurnSetup, 'onSession'>;

/** What reads the turns of an attempt; each attempt has a sandbox of its own. */
function perAttempt(
  config: CommandAgentConfig,
): (context: AgentContext & { sandbox: Sandbox }) => AttemptSetup {
  const setups = new WeakMap<Sandbox, AttemptSetup>();
  const isCodexStream = config.telemetry.collector === 'codex-jsonl';
  const agent = nativeAgentOf(isCodexStream ? 'codex-cli' : config.kind);
  return (context) => {
    const { sandbox, files } = context;
    const { workdir, home } = sandbox;
    const place = placeOf(context);
    const setup = setups.get(sandbox) ?? {
      ...{ config, agent, place },
      reader: createOutputReader({
        ...{ agent, place, home, runtime: config.kind },
        stream: isCodexStream ? 'always' : 'detect',
      }),
      telemetry: createTelemetryCollector(config.telemetry, { workdir, outputDir: files.outputDir }),
    };
    setups.set(sandbox, setup);
    return setup;
  };
}

/** A shell reports it as exit code 126 or 127. An agent can exit so too, so the host looks for the program. */
async function isProgramMissing(
  template: Command,
  { ended, exitCode }: ProgramEnd,
  searchPath: string,
): Promise<boolean> {
  if (ended !== 'exit' || (exitCode !== 126 && exitCode !== 127)) return false;
  const program = executableOf(template);
  const canTell = program !== undefined && !/[/{]/.test(program);
  return !canTell || (await findOnPath(searchPath)(program)) === undefined;
}
