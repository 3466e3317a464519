import {
  type AgentConfig,
  type Command,
  type CommandAgentConfig,
  commandParts,
  type DriverAgentConfig,
  drivenAgentOf,
  enforcerOf,
  fillTemplate,
  parseTemplate,
  permissionsOf,
} from '@whetstone/agents/config';
import type { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { protectedFiles } from '../config/protected-paths.ts';
import type { EnvironmentPreview } from '../environment/preview-environments.ts';
import type { Plan, PlannedCase } from '../plan/plan.ts';
import { counted } from '../report/format.ts';
import type { PlannedRun } from '../run/plan-or-resume.ts';
import type { InstructionPreview } from '../workspace/preview-instructions.ts';
import { emptySubmodules } from '../workspace/submodules.ts';
import { previewJson, previewLine } from './environment-line.ts';
import { errorJson } from './print-error.ts';
import { plannedSandboxLine, sandboxJson } from './sandbox-line.ts';

/** Prints what a run would do, which cases it would start, and how many problems would keep it from that. Starts nothing, and shows no values of variables. */
export async function printDryRun(
  { config, plan, sandbox }: PlannedRun,
  {
    starting,
    again,
    problems,
    instructions,
    environment,
    submodules,
  }: {
    starting: readonly PlannedCase[];
    /** Why cases of a resumed run would run a second time, and what it keeps that the configuration now says otherwise. */
    again: readonly string[];
    problems: readonly WhetstoneError[];
    instructions: readonly InstructionPreview[];
    environment: EnvironmentPreview | undefined;
    submodules: readonly string[];
  },
  { json, stdout }: { json: boolean; stdout: NodeJS.WritableStream },
): Promise<void> {
  const commands = plan.agents.flatMap(({ name }) => {
    const agent = config.agents.find((candidate) => candidate.name === name);
    const first = plan.cases.find((planned) => planned.agent === name);
    if (!agent || !first) return [];
    const resume = agent.runner === 'command' && agent.resumeCommand;
    return {
      agent: name,
      case: first.id,
      command: previewCommand(agent, first),
      ...(resume && { resume_command: previewTemplate(agent, resume, first) }),
    };
  });
  const commits = new Map(plan.tasks.map(({ id, commit }) => [id, commit]));
  const tasksInPlan = config.tasks.filter(({ id }) => commits.has(id));
  const shielded = await protectedFiles(config.repo.path, tasksInPlan, ({ id }) => commits.get(id) ?? '');
  const order = starting.map(({ id }) => id);
  if (json) {
    const found = { again, instructions, protected_paths: shielded, problems: problems.map(errorJson) };
    const shown = {
      ...{
        seed: plan.seed,
        ...present({ looks: plan.looks, bridge: plan.bridge }),
        sandbox: sandboxJson(config, sandbox),
        order,
        cases: plan.cases,
        commands,
        ...found,
      },
      environment: previewJson(environment),
      submodules,
    };
    stdout.write(`${JSON.stringify(shown, null, 2)}\n`);
    return;
  }
  const { agents, tasks, variants, trials, cases, seed, looks, bridge, baseline } = plan;
  const lines = [
    `${counted(cases.length, 'case')}: ${[
      counted(agents.length, 'agent'),
      counted(tasks.length, 'task'),
      counted(variants.length, 'variant'),
      counted(trials, 'trial'),
    ].join(' × ')}`,
    ...(order.length < cases.length ? [`${order.length} of ${cases.length} cases are missing`] : []),
    ...again,
    '',
    `Repository  ${config.repo.path}`,
    `Agents      ${agents.map(({ name, kind }) => `${name} (${kind})`).join(', ')}`,
    `Tasks       ${tasks.map(({ id, commit }) => `${id} at ${commit.slice(0, 12)}`).join(', ')}`,
    `Variants    ${variants.map(({ name }) => (name === plan.baseline ? `${name} (baseline)` : name)).join(', ')}`,
    `Seed        ${seed}`,
    ...(bridge
      ? [
          `Bridge      ${baseline} runs on ${bridge.tasks.length} of ${tasks.length} tasks; run ${bridge.run_id} has the rest`,
        ]
      : []),
    ...(looks ? [`Looks       after ${looksOf(looks)} tasks`] : []),
    `Sandbox     ${plannedSandboxLine(config, sandbox)}`,
    ...(environment ? [`Prepare     ${previewLine(environment)}`] : []),
    ...(submodules.length > 0 ? [`Note        ${emptySubmodules(submodules)}`] : []),
    ...shielded.map(
      ({ task, pattern, files }) =>
        `Protected   ${pattern} (${task}): ${counted(files, 'file')} of the commit`,
    ),
    '',
    'Commands, each for one representative case:',
    ...commands.flatMap(({ agent, command, resume_command: resume }) => [
      `  ${agent}`,
      ...command.split('\n').map((line) => `    ${line}`),
      ...(resume?.split('\n').map((line, index) => (index === 0 ? `    then ${line}` : `    ${line}`)) ?? []),
    ]),
    '',
    ...(instructions.length > 0
      ? [
          'Instruction files, in the order of the first request:',
          ...instructions.flatMap(instructionLines),
          '',
        ]
      : []),
    'Starting order:',
    ...order.map((id, index) => `  ${String(index + 1).padStart(String(order.length).length)}  ${id}`),
    '',
    'Nothing was started.',
    ...(problems.length > 0 ? [`A run would not start either: ${counted(problems.length, 'problem')}.`] : []),
  ];
  stdout.write(`${lines.join('\n')}\n`);
}

/** `5, 10, 15 and 20`. */
function looksOf(looks: NonNullable<Plan['looks']>): string {
  const ends = looks.map((_, i) => looks.slice(0, i + 1).reduce((sum, { tasks }) => sum + tasks.length, 0));
  return `${ends.slice(0, -1).join(', ')} and ${ends.at(-1)}`;
}

function instructionLines({ variant, agent, reads, placed, hides, warnings }: InstructionPreview): string[] {
  const named = reads.map((path) =>
    path !== placed?.path ? path : `${path} (${placed.mode === 'append' ? 'with' : 'only'} the variant's)`,
  );
  const hidden = hides.length > 0 ? `, in place of ${hides.join(', ')}` : '';
  return [
    `  ${variant} (${agent})  ${named.join(', ') || 'none'}${hidden}`,
    ...warnings.map((warning) => `    warning: ${warning}`),
  ];
}

type CaseNames = Pick<PlannedCase, 'task' | 'variant'>;

const hiddenVariables = ({ env }: AgentConfig): string[] => Object.keys(env).map((name) => `${name}=***`);

/** The command, with stand-ins for what exists only in a run, and the names of its variables without their values. */
function previewCommand(agent: AgentConfig, planned: CaseNames): string {
  const variables = hiddenVariables(agent);
  switch (agent.runner) {
    case 'command':
      return previewTemplate(agent, agent.command, planned);
    case 'module':
      return [...variables, `(in process, loaded only by a run) ${agent.module.file}`].join(' ');
    case 'driver':
      return [...variables, ...previewDriver(agent)].join(' ');
    case 'loop': {
      const { profile, model } = agent.loop;
      const command = `(in process) whetstone agent --profile ${profile}`;
      return [...variables, command, ...(model === undefined ? [] : ['--model', model])].join(' ');
    }
  }
}

/** The command line that the driver will start. Settings and the gateway's address are set per case. */
function previewDriver(config: DriverAgentConfig): string[] {
  const agent = drivenAgentOf(config);
  const { release, launch } = agent;
  const { model, auth } = config.driver;
  const permissions = permissionsOf(enforcerOf(agent, config.driver.options), config.driver.permissions);
  const access = auth === 'login' ? 'login' : 'key';
  return [
    release.program,
    ...launch.turn({ access, workingDirectory: '<workspace>', permissions, ...present({ model }) }),
  ];
}

function previewTemplate(agent: CommandAgentConfig, template: Command, planned: CaseNames): string {
  const standIns: Record<string, string> = {
    workspace: '<workspace>',
    prompt: '<prompt text>',
    prompt_file: '<case>/prompt.md',
    output_dir: '<case>/output',
    session_id: '<session>',
    telemetry_file: `<case>/output/${agent.telemetry.file}`,
    gateway_url: '<gateway>',
    gateway_key: '***',
    task_id: planned.task,
    variant: planned.variant,
  };
  const parts = commandParts(template).map((part) =>
    fillTemplate(parseTemplate(part).segments, (name) => standIns[name] ?? ''),
  );
  return [...hiddenVariables(agent), ...parts].join(' ');
}
