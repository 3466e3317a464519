import type { EventEnvelope, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, objectsIn, textIn } from '../../kit/fields.ts';
import { workspacePath } from '../../kit/workspace-path.ts';

/** The agent's names of the tools that become events of their own kind (commands, sub-agents, skills, plans, files). */
export type ToolVocabulary = {
  shell: ReadonlySet<string>;
  subagent: ReadonlySet<string>;
  skill: ReadonlySet<string>;
  /** Tools that take the whole plan as `todos`. */
  todos: ReadonlySet<string>;
  /** Tools that write a file, each with the name of the input that holds its path. */
  files: Readonly<Record<string, string>>;
};

export type ToolOutcome = {
  callId: string;
  output: JsonValue | undefined;
  status: 'completed' | 'failed' | 'rejected';
  /** Only for a shell command. */
  exitCode?: number | undefined;
  /** Only for a tool that writes a file: the file did not exist before. */
  isNewFile?: boolean;
  /** The result only says that a background sub-agent started; `ended` reports its end. */
  isLaunch?: boolean;
};

export type Denial = { name?: string | undefined; reason?: string | undefined };

/** What is remembered of a call until its result comes. */
type OpenCall =
  | { kind: 'action' | 'shell' | 'subagent' | 'launched' }
  | { kind: 'file'; path: string }
  | { kind: 'plan'; steps: PlanSteps };

type PlanSteps = (StreamEvent & { type: 'plan.updated' })['steps'];

/** Pairs tool calls with their results, in a session whose messages have Anthropic's format. */
export class ToolCalls {
  readonly #vocabulary: ToolVocabulary;
  readonly #workdir: () => string | undefined;
  readonly #open = new Map<string, OpenCall>();
  readonly #denied = new Set<string>();

  constructor(vocabulary: ToolVocabulary, workdir: () => string | undefined) {
    this.#vocabulary = vocabulary;
    this.#workdir = workdir;
  }

  called(callId: string, name: string, input: JsonValue, envelope: EventEnvelope): StreamEvent[] {
    const fields = objectIn(input) ?? {};
    const call = this.#read(name, fields);
    this.#open.set(callId, call);
    if (this.#vocabulary.skill.has(name)) {
      // Older versions of Claude Code called the field `command`.
      const skill = fields.skill ?? fields.command;
      const skillInput = skill === undefined ? fields : { ...fields, skill };
      return [{ type: 'action.called', callId, name: 'load_skill', input: skillInput, ...envelope }];
    }
    const called: StreamEvent = { type: 'action.called', callId, name, input, ...envelope };
    if (call.kind !== 'subagent') return [called];
    const agent = textIn(fields.subagent_type) ?? name;
    return [called, { type: 'subagent.called', callId, name: agent, ...envelope }];
  }

  #read(name: string, input: { [key: string]: JsonValue }): OpenCall {
    const { shell, subagent, todos, files } = this.#vocabulary;
    if (shell.has(name)) return { kind: 'shell' };
    if (subagent.has(name)) return { kind: 'subagent' };
    if (todos.has(name)) return { kind: 'plan', steps: stepsOf(input.todos) };
    const path = Object.hasOwn(files, name) ? input[files[name] ?? ''] : undefined;
    return typeof path === 'string' ? { kind: 'file', path } : { kind: 'action' };
  }

  result(outcome: ToolOutcome, envelope: EventEnvelope): StreamEvent[] {
    const { callId } = outcome;
    const call = this.#open.get(callId) ?? { kind: 'action' };
    const isLaunch = call.kind === 'subagent' && outcome.isLaunch === true;
    if (isLaunch) this.#open.set(callId, { kind: 'launched' });
    else this.#open.delete(callId);
    const status = this.#denied.delete(callId) ? 'rejected' : outcome.status;
    const output = call.kind === 'shell' ? shellOutput(outcome) : outcome.output;
    const result: StreamEvent = {
      type: 'action.result',
      callId,
      ...present({ output }),
      status,
      ...envelope,
    };
    if (call.kind === 'subagent' && !isLaunch) {
      return [endOfSubagent(callId, status, outcome.output, envelope), result];
    }
    return status === 'completed' ? [result, ...this.#effects(call, outcome, envelope)] : [result];
  }

  #effects(call: OpenCall, { isNewFile }: ToolOutcome, envelope: EventEnvelope): StreamEvent[] {
    if (call.kind === 'plan') return [{ type: 'plan.updated', steps: call.steps, ...envelope }];
    if (call.kind !== 'file') return [];
    const path = workspacePath(call.path, this.#workdir());
    return [{ type: 'file.changed', path, change: isNewFile === true ? 'added' : 'modified', ...envelope }];
  }

  /**
   * The end of a background sub-agent (a foreground one ends with its result). `undefined` for any other background
   * task.
   */
  ended(
    callId: string,
    status: string,
    output: JsonValue | undefined,
    envelope: EventEnvelope,
  ): StreamEvent[] | undefined {
    const call = this.#open.get(callId);
    if (call?.kind !== 'launched') return call?.kind === 'subagent' ? [] : undefined;
    this.#open.delete(callId);
    return [endOfSubagent(callId, status, output, envelope)];
  }

  /** The agent's own settings deny the call, because nobody is there to ask. Its result will be `rejected`. */
  denied(callId: string, about: Denial, envelope: EventEnvelope): StreamEvent[] {
    const { name, reason } = about;
    if (this.#open.has(callId)) this.#denied.add(callId);
    return [
      {
        type: 'approval.requested',
        callId,
        ...present({ name, reason }),
        ...envelope,
      },
      { type: 'approval.decided', callId, decision: 'denied', ...envelope },
    ];
  }
}

const endOfSubagent = (
  callId: string,
  status: string,
  output: JsonValue | undefined,
  envelope: EventEnvelope,
): StreamEvent => ({
  type: 'subagent.completed',
  callId,
  ...present({ output }),
  status: status === 'completed' ? 'completed' : 'failed',
  ...envelope,
});

const shellOutput = ({ output, exitCode }: ToolOutcome): JsonValue => ({
  ...present({ output, exitCode }),
});

/** The plan in the input of `TodoWrite` and similar tools. */
function stepsOf(todos: JsonValue | undefined): PlanSteps {
  return objectsIn(todos).flatMap((todo) => {
    const text = textIn(todo.content);
    return text === undefined ? [] : [{ text, status: stepStatus(todo.status) }];
  });
}

export const stepStatus = (status: JsonValue | undefined): PlanSteps[number]['status'] =>
  status === 'in_progress' || status === 'completed' ? status : 'pending';
