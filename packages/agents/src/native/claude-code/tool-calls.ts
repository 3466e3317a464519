import type { JsonObject, JsonValue, StreamEvent, StreamEventOf } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { objectIn, textIn } from '../../kit/fields.ts';
import { fileChanged, planSteps } from '../../kit/mapped-events.ts';

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
  | { kind: 'plan'; steps: StreamEventOf<'plan.updated'>['steps'] };

/** Pairs tool calls with their results, in a session whose messages have Anthropic's format. */
export class ToolCalls {
  readonly #vocabulary: ToolVocabulary;
  /** Absent until an item of the session names it. */
  workdir: string | undefined;
  readonly #open = new Map<string, OpenCall>();
  readonly #denied = new Set<string>();

  constructor(vocabulary: ToolVocabulary, workdir: string | undefined) {
    this.#vocabulary = vocabulary;
    this.workdir = workdir;
  }

  called(callId: string, name: string, input: JsonValue): StreamEvent[] {
    const fields = objectIn(input) ?? {};
    const call = this.#read(name, fields);
    this.#open.set(callId, call);
    if (this.#vocabulary.skill.has(name)) {
      // Older versions of Claude Code called the field `command`.
      const skill = fields.skill ?? fields.command;
      const skillInput = skill === undefined ? fields : { ...fields, skill };
      return [{ type: 'action.called', callId, name: 'load_skill', input: skillInput }];
    }
    const called: StreamEvent = { type: 'action.called', callId, name, input };
    if (call.kind !== 'subagent') return [called];
    return [called, { type: 'subagent.called', callId, name: textIn(fields.subagent_type) ?? name }];
  }

  #read(name: string, input: JsonObject): OpenCall {
    const { shell, subagent, todos, files } = this.#vocabulary;
    if (shell.has(name)) return { kind: 'shell' };
    if (subagent.has(name)) return { kind: 'subagent' };
    if (todos.has(name)) return { kind: 'plan', steps: planSteps(input.todos, 'content') };
    const path = Object.hasOwn(files, name) ? input[files[name] ?? ''] : undefined;
    return typeof path === 'string' ? { kind: 'file', path } : { kind: 'action' };
  }

  result(outcome: ToolOutcome): StreamEvent[] {
    const { callId } = outcome;
    const call = this.#open.get(callId) ?? { kind: 'action' };
    const isLaunch = call.kind === 'subagent' && outcome.isLaunch === true;
    if (isLaunch) this.#open.set(callId, { kind: 'launched' });
    else this.#open.delete(callId);
    const status = this.#denied.delete(callId) ? 'rejected' : outcome.status;
    const { output, exitCode } = outcome;
    const reported = call.kind === 'shell' ? { output: { ...present({ output, exitCode }) } } : { output };
    const result: StreamEvent = { type: 'action.result', callId, ...present(reported), status };
    if (call.kind === 'subagent' && !isLaunch) return [endOfSubagent(callId, status, output), result];
    return status === 'completed' ? [result, ...this.#effects(call, outcome)] : [result];
  }

  #effects(call: OpenCall, { isNewFile }: ToolOutcome): StreamEvent[] {
    if (call.kind === 'plan') return [{ type: 'plan.updated', steps: call.steps }];
    if (call.kind !== 'file') return [];
    return [fileChanged(call.path, this.workdir, isNewFile === true ? 'added' : 'modified')];
  }

  /** The end of a background sub-agent (others end with their result). `undefined` for another background task. */
  ended(callId: string, status: string, output?: JsonValue): StreamEvent[] | undefined {
    const call = this.#open.get(callId);
    if (call?.kind !== 'launched') return call?.kind === 'subagent' ? [] : undefined;
    this.#open.delete(callId);
    return [endOfSubagent(callId, status, output)];
  }

  /** The agent's own settings deny the call, because nobody is there to ask. Its result will be `rejected`. */
  denied(callId: string, about: Denial): StreamEvent[] {
    if (this.#open.has(callId)) this.#denied.add(callId);
    return [
      { type: 'approval.requested', callId, ...present(about) },
      { type: 'approval.decided', callId, decision: 'denied', by: 'agent' },
    ];
  }
}

const endOfSubagent = (callId: string, status: string, output: JsonValue | undefined): StreamEvent => ({
  type: 'subagent.completed',
  callId,
  ...present({ output }),
  status: status === 'completed' ? 'completed' : 'failed',
});
