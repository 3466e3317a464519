import { addUsage, type JsonObject, type StreamEvent, type Usage } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { momentIn, objectIn, objectsIn, requiredText, textIn } from '../../kit/fields.ts';
import { changeNamed, fileChanged } from '../../kit/mapped-events.ts';
import { mcpFailures } from '../../kit/mcp-failures.ts';
import type { MapperPlace, NativeMapper, NativeSummary } from '../../kit/native-mapper.ts';
import { OpenTexts } from '../../kit/open-texts.ts';
import { enveloped } from '../../kit/session-record.ts';
import { callEvents, endEvents, errorMessage } from '../opencode-cli/parts.ts';
import { OpencodeSession } from '../opencode-cli/session.ts';

/** A session of the turn, and the call that started it; the session of the turn itself has none. */
type OpenSession = { session: OpencodeSession; parentCallId?: string };

/** Events of a session that others repeat, or that the host reports. */
const REPEATED = new Set([
  ...['session.created', 'session.updated', 'session.diff', 'session.compacted', 'todo.updated'],
  ...['permission.asked', 'permission.replied', 'question.asked', 'question.replied', 'question.rejected'],
  ...['message.removed', 'message.part.removed', 'file.edited', 'command.executed'],
]);

/**
 * Maps the events that the server of OpenCode sends of a turn, those of its sub-agents too, and the results of the SDK's
 * own calls (`sdk.result`).
 */
export class OpencodeServerStream implements NativeMapper {
  readonly #place: MapperPlace;
  readonly #root: OpenSession;
  /** By the id of the session. */
  readonly #sessions = new Map<string, OpenSession>();
  /** What is known of a message when its parts come. */
  readonly #messages = new Map<string, { isPrompt: boolean; isSummary: boolean; model?: string }>();
  readonly #texts = new OpenTexts();
  readonly #textParts = new Set<string>();
  readonly #calls = new Set<string>();
  readonly #changed = new Set<string>();
  #diff: JsonObject[] | undefined;

  constructor(place: MapperPlace = {}) {
    this.#place = place;
    this.#root = { session: new OpencodeSession(place) };
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    if (item.type === 'sdk.result') return this.#result(item);
    const properties = objectIn(item.properties) ?? {};
    const id = textIn(properties.sessionID);
    const of = id === undefined ? this.#root : this.#sessions.get(id);
    if (typeof item.type !== 'string') return undefined;
    if (!of) return REPEATED.has(item.type) ? [] : undefined;
    const events = this.#event(item.type, properties, of);
    for (const event of events ?? []) if (event.type === 'file.changed') this.#changed.add(event.path);
    return enveloped(events, present({ parentCallId: of.parentCallId }));
  }

  #result({ method, data }: JsonObject): StreamEvent[] | undefined {
    switch (method) {
      case 'session.create':
      case 'session.get':
      case 'session.fork':
        return this.#opened(objectIn(data) ?? {}, method !== 'session.create');
      case 'session.diff':
        return this.#difference(objectsIn(data));
      case 'mcp.status': {
        const servers = Object.entries(objectIn(data) ?? {}).map(([name, server]): JsonObject => {
          const { status = null, error = null } = objectIn(server) ?? {};
          const isThere = status === 'connected' || status === 'disabled';
          return { name, status: isThere ? status : 'failed', error: error ?? status };
        });
        return mcpFailures(servers);
      }
      default:
        return undefined;
    }
  }

  #opened({ id, version, directory }: JsonObject, resumed: boolean): StreamEvent[] {
    const { record } = this.#root.session;
    const facts = present({ runtimeVersion: version, workingDir: directory ?? this.#place.workdir });
    const started = record.started('opencode-sdk', requiredText(id), facts);
    this.#sessions.set(requiredText(id), this.#root);
    return [{ ...started, ...(resumed && { resumed }) } as StreamEvent];
  }

  /** How OpenCode found the files of the turn changed, whatever changed them. */
  #difference(files: JsonObject[]): StreamEvent[] {
    this.#diff = files.map(({ patch: _, ...file }) => file);
    return files.flatMap(({ file, status }) => {
      if (typeof file !== 'string' || this.#changed.has(file)) return [];
      return [fileChanged(file, this.#place.workdir, changeNamed(CHANGES[`${status}`]))];
    });
  }

  #event(type: string, properties: JsonObject, of: OpenSession): StreamEvent[] | undefined {
    if (REPEATED.has(type)) return [];
    switch (type) {
      case 'message.updated':
        return this.#message(objectIn(properties.info) ?? {}, of);
      case 'message.part.updated':
        return this.#part(objectIn(properties.part) ?? {}, of);
      case 'message.part.delta': {
        const part = requiredText(properties.partID);
        if (this.#textParts.has(part)) this.#texts.add(part, requiredText(properties.delta));
        return [];
      }
      case 'session.status': {
        const { type: status, message } = objectIn(properties.status) ?? {};
        return status === 'retry'
          ? [{ type: 'error', message: textIn(message) ?? 'The model is asked again.' }]
          : [];
      }
      case 'session.error':
        return fail(of, properties.error);
      case 'session.idle': {
        const { record } = of.session;
        // The answer to an output schema is a call of a tool, after which no step follows.
        if (record.data !== undefined && record.failure === undefined) record.ending = 'completed';
        return [];
      }
      default:
        return undefined;
    }
  }

  #message({ id, role, modelID, summary, error, structured }: JsonObject, of: OpenSession): StreamEvent[] {
    const message = { isPrompt: role === 'user', isSummary: role === 'assistant' && summary === true };
    this.#messages.set(requiredText(id), { ...message, ...present({ model: textIn(modelID) }) });
    if (structured !== undefined) of.session.record.data = structured;
    return error === undefined ? [] : fail(of, error);
  }

  #part(part: JsonObject, of: OpenSession): StreamEvent[] | undefined {
    const {
      isPrompt = false,
      isSummary = false,
      model,
    } = this.#messages.get(requiredText(part.messageID)) ?? {};
    switch (part.type) {
      case 'text':
        return this.#text(part, { isPrompt, isSummary }, of);
      case 'tool':
        return this.#call(part);
      // A part that is still open has no end.
      case 'reasoning':
        return momentIn(objectIn(part.time)?.end).at === undefined ? [] : of.session.part(part.type, part);
      case 'step-finish': {
        const events = of.session.part(part.type, part, model);
        // The turn continues, because the step that ended only wrote a summary.
        if (isSummary) of.session.record.ending = undefined;
        return events;
      }
      case 'step-start':
      case 'patch':
      case 'snapshot':
      case 'compaction':
      case 'retry':
      case 'agent':
      case 'file':
      case 'subtask':
        return [];
      default:
        return undefined;
    }
  }

  #text(
    part: JsonObject,
    { isPrompt, isSummary }: { isPrompt: boolean; isSummary: boolean },
    { session }: OpenSession,
  ): StreamEvent[] {
    const text = requiredText(part.text);
    if (isPrompt) {
      if (part.synthetic !== true) return [];
      // It follows a summary.
      if (objectIn(part.metadata)?.compaction_continue === true) session.record.ending = undefined;
      return [{ type: 'message', role: 'user', text }];
    }
    const id = requiredText(part.id);
    const { end } = objectIn(part.time) ?? {};
    if (end === undefined) {
      this.#textParts.add(id);
      return [];
    }
    this.#textParts.delete(id);
    this.#texts.close(id);
    if (isSummary) return [{ type: 'compaction', summary: text }];
    return text === '' ? [] : [{ type: 'message', role: 'assistant', text, ...momentIn(end) }];
  }

  /** A call is reported when it begins, before the decision about it. */
  #call(part: JsonObject): StreamEvent[] {
    const callId = requiredText(part.callID);
    const state = objectIn(part.state) ?? {};
    if (state.status === 'pending') return [];
    const events: StreamEvent[] = [];
    if (!this.#calls.has(callId)) {
      this.#calls.add(callId);
      events.push(...callEvents(part, this.#place));
    }
    const { sessionId } = objectIn(state.metadata) ?? {};
    if (part.tool === 'task' && typeof sessionId === 'string' && !this.#sessions.has(sessionId)) {
      this.#sessions.set(sessionId, { session: new OpencodeSession(this.#place), parentCallId: callId });
    }
    return [...events, ...(endEvents(part, this.#place) ?? [])];
  }

  end(): StreamEvent[] {
    return this.#texts.cutOff();
  }

  summary(): NativeSummary {
    const of = [this.#root, ...[...this.#sessions.values()].filter((one) => one !== this.#root)];
    const { usage: _, costUsd: __, ...own } = this.#root.session.summary(present({ diff: this.#diff }));
    const sums = of.map(({ session }) => session.record.summary());
    const hasInvalidUsage = sums.some((sum) => sum.hasInvalidUsage);
    const usage = sums.reduce<Usage | undefined>(
      (sum, { usage: one }) => (sum && one ? addUsage(sum, one) : (sum ?? one)),
      undefined,
    );
    const costUsd = sums.reduce((sum, { costUsd: cost = 0 }) => sum + cost, 0);
    return {
      ...own,
      ...(hasInvalidUsage ? { hasInvalidUsage } : present({ usage })),
      ...(costUsd > 0 && { costUsd }),
    };
  }
}

const CHANGES: Readonly<Record<string, string>> = { added: 'add', deleted: 'delete' };

/** The server reports most errors twice: of the session, and of its message. A sub-agent's failure is not a failure of the turn. */
function fail({ session }: OpenSession, error: JsonObject[string] | undefined): StreamEvent[] {
  return session.record.failure === errorMessage(error) ? [] : session.fail(error);
}
