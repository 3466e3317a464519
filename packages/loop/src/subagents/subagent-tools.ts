import type { JsonObject } from '@whetstone/events';
import type { SessionTool } from '../tools/session-tools.ts';
import { defineTool, type RegisteredTool, type ToolOutput } from '../tools/tool.ts';
import type { SubagentToolSet } from '../tools/tool-set.ts';
import { truncateOutput } from '../tools/truncate.ts';
import { isAgentId, type Subagent } from './subagent.ts';
import type { Subagents, WaitEnd } from './subagents.ts';

/** The tools of one session; `models` says whether the parent may choose a model. */
export function createSubagentTools(
  set: SubagentToolSet,
  agents: Subagents,
  { models }: { models: boolean },
): SessionTool[] {
  switch (set) {
    case 'spec':
      return specTools(agents, models);
    case 'codex':
      return codexTools(agents, models);
    case 'claude-code':
      return claudeCodeTools(agents, models);
  }
}

const text = (description: string): JsonObject => ({ type: 'string', description });
const MODEL = { model: text('Name of another model for the agent. Default: the model that you are.') };
const WAIT_DEFAULT_MS = 30_000;
const WAIT_MIN_MS = 10_000;
const WAIT_MAX_MS = 3_600_000;
const TIMEOUT = {
  type: 'integer',
  description: `Longest wait in milliseconds, ${WAIT_MIN_MS} to ${WAIT_MAX_MS}. Default ${WAIT_DEFAULT_MS}.`,
};
const SPAWN =
  'Start an agent that works on a part of the task by itself, beside you, on the same files. It knows nothing of this ' +
  'conversation: give it everything that it needs. Returns its id at once. Start several for parts that do not ' +
  'depend on each other.';
const SEND =
  'Send an agent a message. One that works reads it before its next step, one that is done begins to work on it.';
const WAIT =
  'Wait until agents are done and read their results. Returns earlier when the time is over or the user writes.';
const CLOSE = 'End an agent and whatever it runs. A closed agent cannot be used again.';

function specTools(agents: Subagents, models: boolean): SessionTool[] {
  return [
    defineTool<{ task: string; working_dir?: string; model?: string; max_turns?: number }>({
      definition: definition('spawn_agent', SPAWN, ['task'], {
        task: text('What the agent has to do, and what it should report.'),
        working_dir: text('Folder inside your working folder in which it starts. Default: yours.'),
        ...(models && MODEL),
        max_turns: { type: 'integer', minimum: 1, description: 'Model calls that it may make. Default 50.' },
      }),
      concurrency: 'shared',
      executor: async ({ task, working_dir, model, max_turns }, { callId, signal }) =>
        started(
          await agents.spawn({
            task,
            callId,
            signal,
            workingDirectory: working_dir,
            model: models ? model : undefined,
            maxTurns: max_turns,
          }),
        ),
    }),
    sendTool(agents, 'send_input', 'agent_id'),
    defineTool<{ agent_id?: string; agent_ids?: string[]; timeout_ms?: number }>({
      definition: definition('wait', WAIT, [], {
        agent_id: text('The agent to wait for.'),
        agent_ids: {
          type: 'array',
          items: { type: 'string' },
          description: 'Several agents; waits for all of them.',
        },
        timeout_ms: TIMEOUT,
      }),
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
    defineTool<{ message: string; model?: string }>({
      definition: definition('spawn_agent', SPAWN, ['message'], {
        message: text('What the agent has to do, and what it should report.'),
        ...(models && MODEL),
      }),
      concurrency: 'shared',
      executor: async ({ message, model }, { callId, signal }) =>
        started(
          await agents.spawn({
            task: message,
            callId,
            signal,
            workingDirectory: undefined,
            model: models ? model : undefined,
            maxTurns: undefined,
          }),
        ),
    }),
    sendTool(agents, 'send_input', 'target'),
    defineTool<{ targets: string[]; timeout_ms?: number }>({
      definition: definition('wait_agent', WAIT, ['targets'], {
        targets: { type: 'array', items: { type: 'string' }, description: 'Ids of the agents.' },
        timeout_ms: TIMEOUT,
      }),
      concurrency: 'shared',
      exemptFromLoopDetection: true,
      executor: ({ targets, timeout_ms }, { signal }) => waitFor(agents, targets, timeout_ms, signal),
    }),
    closeTool(agents, 'close_agent', 'target'),
  ];
}

function claudeCodeTools(agents: Subagents, models: boolean): SessionTool[] {
  return [
    defineTool<{ prompt: string; model?: string; run_in_background?: boolean }>({
      definition: definition(
        'Agent',
        `${SPAWN.replace(' Returns its id at once.', '')} Returns its report.`,
        ['description', 'prompt'],
        {
          description: text('The task in three to five words.'),
          prompt: text('What the agent has to do, and what it should report.'),
          ...(models && MODEL),
          run_in_background: {
            type: 'boolean',
            description:
              'Return the id at once and go on; read the report later with TaskOutput. Default false.',
          },
        },
      ),
      concurrency: 'shared',
      executor: async ({ prompt, model, run_in_background }, { callId, signal }) => {
        const agent = await agents.spawn({
          task: prompt,
          callId,
          signal,
          workingDirectory: undefined,
          model: models ? model : undefined,
          maxTurns: undefined,
        });
        if (run_in_background) return started(agent);
        const end = await agents.wait([agent.id], undefined, signal);
        return end === 'interrupted' ? interruptedBy(agent) : reports([agent], end);
      },
    }),
    defineTool<{ task_id: string; block?: boolean; timeout?: number }>({
      definition: definition(
        'TaskOutput',
        'Read the report of an agent that works in the background.',
        ['task_id'],
        {
          task_id: text('Id of the agent.'),
          block: { type: 'boolean', description: 'Wait until it is done. Default true.' },
          timeout: TIMEOUT,
        },
      ),
      concurrency: 'shared',
      exemptFromLoopDetection: true,
      executor: ({ task_id, block = true, timeout }, { signal }) =>
        block ? waitFor(agents, [task_id], timeout, signal) : reports([agents.get(task_id)], 'finished'),
    }),
    { ...closeTool(agents, 'TaskStop', 'task_id'), accepts: ({ task_id }) => isAgentId(task_id) },
  ];
}

function sendTool(agents: Subagents, name: string, target: string): RegisteredTool {
  return defineTool<{ [key: string]: unknown; message: string; interrupt?: boolean }>({
    definition: definition(name, SEND, [target, 'message'], {
      [target]: text('Id of the agent.'),
      message: text('What you want to tell it.'),
      interrupt: {
        type: 'boolean',
        description: 'Stop what it does now and turn to the message at once. Default false.',
      },
    }),
    executor: async ({ [target]: id, message, interrupt = false }, { callId, signal }) => {
      const agent = await agents.send(String(id), message, { callId, signal, interrupt });
      return `Sent to ${agent.id}. Status: ${agent.status}.`;
    },
  });
}

function closeTool(agents: Subagents, name: string, target: string): RegisteredTool {
  return defineTool<{ [key: string]: unknown }>({
    definition: definition(name, CLOSE, [target], { [target]: text('Id of the agent.') }),
    executor: async ({ [target]: id }) => {
      const agent = agents.get(String(id));
      const before = agent.status;
      await agents.close(agent.id);
      return `Closed ${agent.id}. It was ${before}.`;
    },
  });
}

function definition(name: string, description: string, required: string[], properties: JsonObject) {
  return { name, description, parameters: { type: 'object', properties, required } };
}

function started(agent: Subagent): ToolOutput {
  return {
    content: `Started ${agent.id}. Status: ${agent.status}. Folder: ${agent.workingDirectory}.`,
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
  return {
    content: WHY[end] + blocks.join('\n\n'),
    details: {
      end,
      agents: agents.map(({ id, report: { status, success, turnsUsed } }) => ({
        agentId: id,
        status,
        success,
        turnsUsed,
      })),
    },
  };
}

async function interruptedBy(agent: Subagent): Promise<ToolOutput> {
  await agent.interrupt();
  return reports([agent], 'interrupted');
}
