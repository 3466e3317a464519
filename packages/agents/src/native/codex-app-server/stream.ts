import type { AgentFacts, JsonObject, JsonValue, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { messageEvents, stepStatus, thinkingEvents } from '../../kit/mapped-events.ts';
import { notStarted } from '../../kit/mcp-failures.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { enveloped, SessionRecord } from '../../kit/session-record.ts';
import { CodexCalls } from '../codex-cli/codex-calls.ts';
import { type CodexUsage, codexUsage, toUsage, usageSince } from '../codex-cli/items.ts';
import { SANDBOX_MODES } from './confinement.ts';
import { execItem, itemUse } from './items.ts';
import { NOTIFICATIONS } from './notifications.ts';
import type { ThreadTokenUsage, TurnStatus } from './protocol.ts';
import type { ServerNotificationMethod } from './protocol-methods.ts';

/**
 * Maps what `codex app-server` prints: answers to its client, questions and notifications. Events of other threads, which
 * are those of sub-agents, are in their rollouts. `before`: the mapper of the turn before.
 */
export class AppServerStream implements NativeMapper {
  readonly #record = new SessionRecord();
  readonly #calls: CodexCalls;
  readonly #texts = new OpenTexts();
  readonly #facts: AgentFacts = {};
  /** The names of MCP servers. */
  readonly #notStarted = new Set<string>();
  #usage: CodexUsage | 'unread' | undefined;
  #model: string | undefined;
  #hasPrompt = false;
  #finalMessage: string | undefined;

  constructor({ workdir }: MapperPlace = {}, before?: AppServerStream | 'unread') {
    this.#calls = new CodexCalls(workdir, this.#record.subagents);
    this.#usage = before instanceof AppServerStream ? before.#usage : before;
  }

  /** The last message, which is the answer to an output schema. */
  get finalMessage(): string | undefined {
    return this.#finalMessage;
  }

  map(line: JsonObject): StreamEvent[] | undefined {
    const { method, id, emittedAtMs } = line;
    if (typeof method === 'string') {
      // A question: the host decides, and reports both question and decision.
      if (id !== undefined) return [];
      const events = this.#notified(method, objectIn(line.params) ?? {}, line);
      return enveloped(events, momentIn(emittedAtMs));
    }
    if (id === undefined) return undefined;
    const error = objectIn(line.error);
    if (error) return this.#failed(requiredText(error.message));
    const result = objectIn(line.result);
    return result && this.#answered(result);
  }

  #answered(result: JsonObject): StreamEvent[] {
    const thread = objectIn(result.thread);
    if (!thread || typeof result.model !== 'string') return [];
    const threadId = requiredText(thread.id);
    this.#model = result.model;
    this.#settled(result, result.sandbox);
    this.#facts.threadId = threadId;
    const resumed = Boolean(thread.preview) || typeof thread.forkedFromId === 'string';
    const facts = present({ runtimeVersion: thread.cliVersion, model: result.model, workingDir: result.cwd });
    const started = this.#record.started('codex-app-server', threadId, facts);
    return [{ ...started, ...(resumed && { resumed }) } as StreamEvent];
  }

  /** The settings that are in force, whoever asked for them. */
  #settled({ approvalPolicy, model }: JsonObject, policy: JsonValue | undefined): void {
    const sandbox = objectIn(policy);
    const type = textIn(sandbox?.type);
    const isOpen = type === 'dangerFullAccess' || sandbox?.networkAccess === true;
    this.#model = textIn(model) ?? this.#model;
    this.#facts.own = {
      ...this.#facts.own,
      ...present({
        approvalPolicy: textIn(approvalPolicy) ?? Object.keys(objectIn(approvalPolicy) ?? {})[0],
        sandbox: type && (SANDBOX_MODES[type] ?? type),
      }),
      ...(type !== undefined && { network: isOpen ? 'enabled' : 'disabled' }),
    };
  }

  #notified(method: string, params: JsonObject, line: JsonObject): StreamEvent[] | undefined {
    const use = Object.hasOwn(NOTIFICATIONS, method)
      ? NOTIFICATIONS[method as ServerNotificationMethod]
      : undefined;
    if (use === undefined) return undefined;
    const threadId = textIn(params.threadId);
    const { sessionId } = this.#record;
    if (use === 'repeats' || (threadId !== undefined && sessionId !== undefined && threadId !== sessionId))
      return [];
    if (use === 'raw') return [{ type: 'raw', native: line }];
    switch (method as ServerNotificationMethod) {
      case 'thread/settings/updated': {
        const settings = objectIn(params.threadSettings) ?? {};
        this.#settled(settings, settings.sandboxPolicy);
        return [];
      }
      case 'turn/started':
        return this.#began(params);
      case 'turn/completed':
        return this.#completed(objectIn(params.turn) ?? {});
      case 'item/started':
      case 'item/completed': {
        const item = objectIn(params.item);
        return item && this.#itemEvents(item, method === 'item/completed', line);
      }
      case 'item/agentMessage/delta':
        this.#texts.add(requiredText(params.itemId), requiredText(params.delta), momentIn(line.emittedAtMs));
        return [];
      case 'thread/tokenUsage/updated':
        return this.#used(objectIn(params.tokenUsage)?.total, line);
      case 'turn/plan/updated':
        return [{ type: 'plan.updated', steps: objectsIn(params.plan).map(planStep) }];
      case 'model/rerouted':
        this.#model = textIn(params.toModel) ?? this.#model;
        return [{ type: 'raw', native: line }];
      case 'mcpServer/startupStatus/updated': {
        if (params.status !== 'failed') return [];
        const name = textIn(params.name) ?? '';
        // Codex tries again.
        if (this.#notStarted.has(name)) return [];
        this.#notStarted.add(name);
        return [notStarted(name, textIn(params.error) ?? 'no reason was given')];
      }
      case 'error': {
        const message = errorText(params.error);
        if (params.willRetry !== true) this.#record.failure = message;
        return [{ type: 'error', message }];
      }
      default:
        return undefined;
    }
  }

  #began({ turn }: JsonObject): StreamEvent[] {
    const turnId = textIn(objectIn(turn)?.id);
    if (turnId !== undefined) this.#facts.turnId = turnId;
    return [];
  }

  #completed({ id, error, ...turn }: JsonObject): StreamEvent[] {
    const status = turn.status as TurnStatus | undefined;
    if (typeof id === 'string') this.#facts.turnId = id;
    if (status === 'completed') {
      this.#record.ending = 'completed';
      return [];
    }
    this.#record.ending = 'failed';
    const message = status === 'failed' ? errorText(error) : 'The turn was interrupted.';
    const isNew = this.#record.failure !== message;
    this.#record.failure = message;
    return isNew ? [{ type: 'error', message }] : [];
  }

  #failed(message: string): StreamEvent[] {
    this.#record.failure = message;
    return [{ type: 'error', message }];
  }

  /** Codex counts the tokens of the whole thread, anew after each model call. */
  #used(total: JsonValue | undefined, line: JsonObject): StreamEvent[] {
    const counts: { [Count in keyof ThreadTokenUsage['total']]?: JsonValue } = objectIn(total) ?? {};
    const now = codexUsage({
      ...present({
        input_tokens: counts.inputTokens,
        output_tokens: counts.outputTokens,
        cached_input_tokens: counts.cachedInputTokens,
        cache_write_input_tokens: counts.cacheWriteInputTokens,
        reasoning_output_tokens: counts.reasoningOutputTokens,
      }),
    });
    if (!now) return [{ type: 'raw', native: line }];
    const before = this.#usage;
    this.#usage = now;
    // What a thread used before this process began it is known only once it says so, before the turn.
    if (before === 'unread' || this.#facts.turnId === undefined) return [];
    const used = toUsage(usageSince(before, now));
    return Object.values(used).every((count) => count === 0)
      ? []
      : this.#record.used(used, { model: this.#model });
  }

  #itemEvents(item: JsonObject, isDone: boolean, line: JsonObject): StreamEvent[] | undefined {
    const id = requiredText(item.id);
    switch (itemUse(item.type)) {
      case 'call':
        return this.#calls.events(execItem(item), id, isDone);
      case 'raw':
        return isDone ? [{ type: 'raw', native: line }] : [];
      case 'text':
        return isDone ? this.#textEvents(item, id) : [];
      case 'state':
        return this.#stateEvents(item, id, isDone);
      default:
        return undefined;
    }
  }

  #textEvents(item: JsonObject, id: string): StreamEvent[] {
    switch (item.type) {
      case 'agentMessage':
        this.#texts.close(id);
        this.#finalMessage = requiredText(item.text);
        return messageEvents('assistant', this.#finalMessage);
      case 'userMessage': {
        // The first is the prompt, which the host has; the others came while the agent worked.
        const isPrompt = !this.#hasPrompt;
        this.#hasPrompt = true;
        return isPrompt ? [] : messageEvents('user', textsIn(item.content).join('\n'));
      }
      case 'plan':
        return messageEvents('assistant', requiredText(item.text));
      default: {
        const parts = [item.summary, item.content].flatMap((list) => (Array.isArray(list) ? list : []));
        return thinkingEvents(parts.filter((part) => typeof part === 'string').join('\n\n'));
      }
    }
  }

  #stateEvents(item: JsonObject, id: string, isDone: boolean): StreamEvent[] {
    switch (item.type) {
      case 'subAgentActivity':
        return isDone ? this.#calls.agentActivity(item, id) : [];
      case 'enteredReviewMode':
        if (!isDone) return [];
        return [
          {
            type: 'action.called',
            callId: REVIEW_CALL,
            name: 'review',
            input: { target: textIn(item.review) ?? '' },
          },
        ];
      case 'exitedReviewMode':
        if (!isDone) return [];
        return [
          {
            type: 'action.result',
            callId: REVIEW_CALL,
            status: 'completed',
            output: textIn(item.review) ?? '',
          },
        ];
      default:
        return isDone ? [{ type: 'compaction' }] : [];
    }
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  summary(): NativeSummary {
    return { ...this.#record.summary(), facts: this.#facts };
  }
}

/** A turn reviews at most once. */
const REVIEW_CALL = 'review';

const textsIn = (content: JsonValue | undefined): string[] =>
  objectsIn(content).flatMap((part) => textIn(part.text) ?? textIn(part.name) ?? []);

const planStep = ({ step, status }: JsonObject) => ({
  text: requiredText(step),
  status: stepStatus(status === 'inProgress' ? 'in_progress' : status),
});

function errorText(error: JsonValue | undefined): string {
  const { message, additionalDetails } = objectIn(error) ?? {};
  const details = textIn(additionalDetails);
  return `${textIn(message) ?? 'The turn failed without a message.'}${details === undefined ? '' : `\n${details}`}`;
}
