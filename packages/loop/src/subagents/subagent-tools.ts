import type { JsonObject } from '@whetstone/events';
import { builtInTool } from '../tools/built-in-tool.ts';
import { flag, integer, listOf, optional, text } from '../tools/parameters.ts';
import type { SessionTool } from '../tools/session-tools.ts';
import type { RegisteredTool, SubagentToolSet, ToolOutput } from '../tools/tool.ts';
import { truncateOutput } from '../tools/truncate.ts';
import { isAgentId, type Subagent } from './subagent.ts';
import type { Subagents, WaitEnd } from './subagents.ts';

/** The tools of one session; `models` says whether the parent may choose a model. */
export function createSubagentTools(
  set: SubagentToolSet,
  agents: Subagents,
  { models }: { models: boolean },
): SessionTool[] {
  return TOOLS[set](agents, models);
}

const TOOLS: Readonly<Record<SubagentToolSet, (agents: Subagents, models: boolean) => SessionTool[]>> = {
  spec: specTools,
  codex: codexTools,
  'claude-code': claudeCodeTools,
};

const WAIT_DEFAULT_MS = 30_000;
const WAIT_MIN_MS = 10_000;
const WAIT_MAX_MS = 3_600_000;
const TIMEOUT = optional(
  integer(`Longest wait in milliseconds, ${WAIT_MIN_MS} to ${WAIT_MAX_MS}. Default ${WAIT_DEFAULT_MS}.`),
);
const TASK = text('What the agent has to do, and what it should report.');
const AGENT_ID = text('Id of the agent.');
const SPAWN =
  'Start an agent that works on a part of the task by itself, beside you, on the same files. It knows nothing of this ' +
  'conversation: give it everything that it needs. Returns its id at once. Start several for parts that do not ' +
  'depend on each other.';
const SEND =
  'Send an agent a message. One that works reads it before its next step, one that is done begins to work on it.';
const WAIT =
  'Wait until agents are done and read their results. Returns earlier when the time is over or the user writes.';
const CLOSE = 'End an agent and whatever it runs. A closed agent cannot be used again.';

/** The parameter with which the parent chooses a model, where it may. */
function modelParameter(models: boolean) {
  const model = optional(text('Name of another model for the agent. Default: the model that you are.'));
  return (models ? { model } : {}) as { model: typeof model };
}

function specTools(agents: Subagents, models: boolean): SessionTool[] {
  return [
    builtInTool({
      name: 'spawn_agent',
      description: SPAWN,
      parameters: {
        task: TASK,
        working_dir: optional(text('Folder inside your working folder in which it starts. Default: yours.')),
        ...modelParameter(models),
        max_turns: optional(integer('Model calls that it may make. Default 50.', { minimum: 1 })),
      },
      concurrency: 'shared',
      executor: async ({ task, working_dir: workingDirectory, model, max_turns: maxTurns }, context) => {
        const request = { workingDirectory, model: models ? model : undefined, maxTurns };
        return started(await agents.spawn(task, request, context));
      },
    }),
    sendTool(agents, 'send_input', 'agent_id'),
    builtInTool({
      name: 'wait',
      description: WAIT,
      parameters: {
        agent_id: optional(text('The agent to wait for.')),
        agent_ids: optional(listOf(text(), 'Several agents; waits for all of them.')),
        timeout_ms: TIMEOUT,
      },
      concurrency: 'shared',
      exemptFromLoopDetection: true,
      executor: ({ agent_id, agent_ids = [], timeout_ms }, { signal }) =>
        waitFor(agents, agent_id === undefined ? agent_ids : [agent_id, ...agent_ids], timeout_ms, signal),
    }),
    closeTool(agents, 'close_agent', 'agent_id'),
  ];
}

/** The `multi_agent_v1` names. */
function codexTools(agents: Subagents, models: boolean): SessionTool[] {
  return [
    builtInTool({
      name: 'spawn_agent',
      description: SPAWN,
      parameters: { message: TASK, ...modelParameter(models) },
      concurrency: 'shared',
      executor: async ({ message, model }, context) =>
        started(await agents.spawn(message, { model: models ? model : undefined }, context)),
    }),
    sendTool(agents, 'send_input', 'target'),
    builtInTool({
      name: 'wait_agent',
      description: WAIT,
      parameters: { targets: listOf(text(), 'Ids of the agents.'), timeout_ms: TIMEOUT },
      concurrency: 'shared',
      exemptFromLoopDetection: true,
      executor: ({ targets, timeout_ms }, { signal }) => waitFor(agents, targets, timeout_ms, signal),
    }),
    closeTool(agents, 'close_agent', 'target'),
  ];
}

function claudeCodeTools(agents: Subagents, models: boolean): SessionTool[] {
  return [
    builtInTool({
      name: 'Agent',
      description: `${SPAWN.replace(' Returns its id at once.', '')} Returns its report.`,
      parameters: {
        description: text('The task in three to five words.'),
        prompt: TASK,
        ...modelParameter(models),
        run_in_background: optional(
          flag('Return the id at once and go on; read the report later with TaskOutput. Default false.'),
        ),
      },
      concurrency: 'shared',
      executor: async ({ prompt, model, run_in_background }, context) => {
        const agent = await agents.spawn(prompt, { model: models ? model : undefined }, context);
        if (run_in_background) return started(agent);
        const end = await agents.wait([agent.id], undefined, context.signal);
        if (end === 'interrupted') await agent.interrupt();
        return reports([agent], end);
      },
    }),
    builtInTool({
      name: 'TaskOutput',
      description: 'Read the report of an agent that works in the background.',
      parameters: {
        task_id: AGENT_ID,
        block: optional(flag('Wait until it is done. Default true.')),
        timeout: TIMEOUT,
      },
      concurrency: 'shared',
      exemptFromLoopDetection: true,
      executor: ({ task_id, block = true, timeout }, { signal }) =>
        block ? waitFor(agents, [task_id], timeout, signal) : reports([agents.get(task_id)], 'finished'),
    }),
    { ...closeTool(agents, 'TaskStop', 'task_id'), accepts: ({ task_id }) => isAgentId(task_id) },
  ];
}

/** `target`: what the tool set calls the parameter with the agent's id. */
function sendTool(agents: Subagents, name: string, target: string): RegisteredTool {
  const message = text('What you want to tell it.');
  const interrupt = optional(flag('Stop what it does now and turn to the message at once. Default false.'));
  return builtInTool<{ message: typeof message; interrupt: typeof interrupt }>({
    name,
    description: SEND,
    parameters: { [target]: AGENT_ID, message, interrupt },
    executor: async (args, context) => {
      const id = String((args as JsonObject)[target]);
      const agent = await agents.send(id, args.message, { ...context, interrupt: args.interrupt ?? false });
      return `Sent to ${agent.id}. Status: ${agent.status}.`;
    },
  });
}

function closeTool(agents: Subagents, name: string, target: string): RegisteredTool {
  return builtInTool({
    name,
    description: CLOSE,
    parameters: { [target]: AGENT_ID },
    executor: async ({ [target]: id }) => {
      const agent = agents.get(String(id));
      const before = agent.status;
      await agent.close();
      return `Closed ${agent.id}. It was ${before}.`;
    },
  });
}

function started(agent: Subagent): ToolOutput {
  return {
    content: `Started ${agent.id}. Status: ${agent.status}. Folder: ${agent.facts.workingDirectory}.`,
    details: { agentId: agent.id, status: agent.status },
  };
}

async function waitFor(
  agents: Subagents,
  ids: readonly string[],
  timeoutMs = WAIT_DEFAULT_MS,
  signal: AbortSignal,
): Promise<ToolOutput> {
  if (ids.length === 0) throw new Error('Name at least one agent.');
  const distinct = [...new Set(ids)];
  const bounded = Math.min(Math.max(timeoutMs, WAIT_MIN_MS), WAIT_MAX_MS);
  const end = await agents.wait(distinct, bounded, signal);
  return reports(
    distinct.map((id) => agents.get(id)),
    end,
  );
}

/** What a wait returns has to fit the output limit of a tool, whichever agent talks most. */
const REPORT_CHARACTERS = 28_000;

const WHY: Readonly<Record<WaitEnd, string>> = {
  finished: '',
  timeout: 'The time is over; some still work.\n\n',
  steered: 'The wait ended early, because the user has written.\n\n',
  interrupted: 'The wait was interrupted.\n\n',
};

function reports(agents: readonly Subagent[], end: WaitEnd): ToolOutput {
  const maxChars = Math.max(400, Math.floor(REPORT_CHARACTERS / agents.length) - 200);
  const blocks = agents.map(({ id, report }) => {
    const { status, success, turnsUsed, output } = report;
    const head = `${id}: ${status} (success: ${success}, turns used: ${turnsUsed})`;
    return output === '' ? head : `${head}\n${truncateOutput(output, { maxChars, mode: 'head_tail' })}`;
  });
  const ended = agents.map(({ id, report: { status, success, turnsUsed } }) => ({
    agentId: id,
    status,
    success,
    turnsUsed,
  }));
  return { content: WHY[end] + blocks.join('\n\n'), details: { end, agents: ended } };
}
