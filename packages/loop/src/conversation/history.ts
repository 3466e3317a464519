import type {
  AssistantPart,
  AssistantTurn,
  HistoryTurn,
  Input,
  SteeringTurn,
  SystemTurn,
  ToolCallPart,
  ToolResult,
  ToolResultsTurn,
  UserTurn,
} from './turn.ts';
import { toolCallsOf, wellFormedInput } from './turn.ts';

/** What an assistant turn consists of. */
type Answer = Pick<AssistantTurn, 'parts' | 'provider' | 'model'> & {
  usage?: AssistantTurn['usage'] | undefined;
  responseId?: string | undefined;
};

/**
 * The append-only list of turns. It upholds one rule: every tool call is answered exactly once, directly after the turn
 * that made it. Providers refuse every later request of a conversation that breaks this rule.
 */
export class History {
  readonly #turns: HistoryTurn[] = [];
  readonly #callIds = new Set<string>();
  readonly #now: () => number;
  #openCalls: readonly ToolCallPart[] = [];
  #characters = 0;
  #assistantTurns = 0;

  /** @param open The last turn may have tool calls without results, because they are parked. */
  constructor(now: () => number, turns: readonly HistoryTurn[] = [], { open = false } = {}) {
    this.#now = now;
    for (const turn of turns) this.#restore(turn);
    if (!open) this.answerOpenCalls();
  }

  /** The live list, not a copy. */
  get turns(): readonly HistoryTurn[] {
    return this.#turns;
  }

  /** Characters of all turns, as an estimate of their size. Four characters count as a token (loop spec 5.5). */
  get characters(): number {
    return this.#characters;
  }

  /** Number of assistant turns so far, also of those that were replaced since. `maxTurns` limits it. */
  get assistantTurns(): number {
    return this.#assistantTurns;
  }

  appendUser(content: Input): UserTurn {
    const timestamp = this.#time();
    return this.#append({ id: turnId(), timestamp, kind: 'user', content: wellFormedInput(content) });
  }

  appendSteering(content: Input): SteeringTurn {
    const timestamp = this.#time();
    return this.#append({ id: turnId(), timestamp, kind: 'steering', content: wellFormedInput(content) });
  }

  appendAssistant({ parts, provider, model, usage, responseId }: Answer): AssistantTurn {
    const turn: AssistantTurn = {
      id: turnId(),
      timestamp: this.#time(),
      kind: 'assistant',
      parts: withoutSpareRoom(parts),
      provider,
      model,
    };
    if (usage !== undefined) turn.usage = usage;
    if (responseId !== undefined) turn.responseId = responseId;
    return this.#append(turn);
  }

  /**
   * Adds the results in the order of their calls. Throws unless they answer the tool calls of the last turn, each of them
   * once.
   */
  appendToolResults(given: readonly ToolResult[]): ToolResultsTurn {
    const results = orderedLike(given, this.#openCalls);
    if (results === undefined)
      throw new Error('history: the tool results do not answer the calls of the last turn one to one');
    return this.#push({ id: turnId(), timestamp: this.#time(), kind: 'tool_results', results });
  }

  appendSystem(content: string): SystemTurn {
    const timestamp = this.#time();
    return this.#append({ id: turnId(), timestamp, kind: 'system', content: content.toWellFormed() });
  }

  /** Replaces all turns. Reasoning goes from the first changed turn on: its signature is bound to what came before it. */
  replace(turns: readonly HistoryTurn[]): void {
    const kept = turns.findIndex((turn, index) => turn !== this.#turns[index]);
    const replaced = turns.map((turn, index) => (kept >= 0 && index >= kept ? withoutReasoning(turn) : turn));
    const assistantTurns = this.#assistantTurns;
    this.#turns.length = 0;
    this.#openCalls = [];
    this.#characters = 0;
    for (const turn of replaced) this.#restore(turn);
    this.#assistantTurns = assistantTurns;
    this.answerOpenCalls();
  }

  openCalls(): readonly ToolCallPart[] {
    return this.#openCalls;
  }

  /** Answers the open calls with an error result, so that the next request is valid. */
  answerOpenCalls(text?: string): void {
    if (this.#openCalls.length === 0) return;
    this.appendToolResults(this.#openCalls.map((call) => lostResult(call, text)));
  }

  /** `callId`, or a variant of it where this conversation has that id already: providers refuse a repeated id. */
  uniqueCallId(callId: string, taken: ReadonlySet<string>): string {
    const base = callId || 'call';
    let candidate = callId || `${base}_1`;
    for (let count = 2; this.#callIds.has(candidate) || taken.has(candidate); count += 1)
      candidate = `${base}_${count}`;
    return candidate;
  }

  /** Adds a turn of a snapshot. Results without a call are left out, calls without a result are answered. */
  #restore(turn: HistoryTurn): void {
    if (turn.kind !== 'tool_results') {
      this.#append(turn);
      return;
    }
    if (this.#openCalls.length === 0) return;
    const given = new Map(turn.results.map((result) => [result.callId, result]));
    const results = this.#openCalls.map((call) => given.get(call.callId) ?? lostResult(call));
    this.#push({ ...turn, results });
  }

  #append<T extends HistoryTurn>(turn: T): T {
    this.answerOpenCalls();
    return this.#push(turn);
  }

  #push<T extends HistoryTurn>(turn: T): T {
    this.#turns.push(turn);
    this.#characters += charactersOf(turn);
    this.#openCalls = turn.kind === 'assistant' ? toolCallsOf(turn) : [];
    for (const call of this.#openCalls) this.#callIds.add(call.callId);
    if (turn.kind === 'assistant') this.#assistantTurns += 1;
    return turn;
  }

  #time(): string {
    return new Date(this.#now()).toISOString();
  }
}

const ID_BYTES = 16;
const randomBytes = Buffer.alloc(ID_BYTES * 64);
let usedBytes = randomBytes.length;

/** 32 hexadecimal digits in one piece: V8 keeps a UUID, joined from twenty strings, as a tree of ten times its size. */
function turnId(): string {
  if (usedBytes === randomBytes.length) {
    crypto.getRandomValues(randomBytes);
    usedBytes = 0;
  }
  usedBytes += ID_BYTES;
  return randomBytes.toString('hex', usedBytes - ID_BYTES, usedBytes);
}

/** A copy in the order of the calls, without unused capacity. `undefined` unless each call has exactly one result. */
function orderedLike(
  results: readonly ToolResult[],
  calls: readonly ToolCallPart[],
): readonly ToolResult[] | undefined {
  if (results.length !== calls.length) return undefined;
  // They are in order already unless a part of the round was parked.
  const inOrder = calls.every(({ callId }, index) => results[index]?.callId === callId);
  if (inOrder) return withoutSpareRoom(results);
  const byCall = new Map(results.map((result) => [result.callId, result]));
  const ordered = calls.map(({ callId }) => byCall.get(callId)).filter((result) => result !== undefined);
  return ordered.length === calls.length ? withoutSpareRoom(ordered) : undefined;
}

/** The list without unused capacity: V8 leaves room for sixteen more in a list that grew, and a history lives long. */
function withoutSpareRoom<T>(items: readonly T[]): T[] {
  return items.slice();
}

/** OpenAI's item ids refer to stored items that follow their reasoning, so they must not be sent without it. */
function withoutReasoning(turn: HistoryTurn): HistoryTurn {
  if (turn.kind !== 'assistant') return turn;
  const parts = turn.parts
    .filter((part) => part.type !== 'reasoning')
    .map((part) => {
      if (!('providerMetadata' in part) || part.providerMetadata?.openai === undefined) return part;
      const { openai: _, ...providerMetadata } = part.providerMetadata;
      return { ...part, providerMetadata };
    });
  return { ...turn, parts };
}

function lostResult({ callId, name }: ToolCallPart, content = LOST_RESULT): ToolResult {
  return { callId, name, content, isError: true };
}

const LOST_RESULT = 'No result: the call was interrupted before it finished.';

/** What an image counts as: the tokens that it roughly costs, not its bytes. */
const IMAGE_CHARACTERS = 6_000;

/** The size of a turn, as the model reads it. */
export function charactersOf(turn: HistoryTurn): number {
  if (turn.kind !== 'assistant' && turn.kind !== 'tool_results') return inputCharacters(turn.content);
  return turn.kind === 'assistant'
    ? turn.parts.reduce((sum, part) => sum + partCharacters(part), 0)
    : turn.results.reduce((sum, { content }) => sum + inputCharacters(content), 0);
}

function partCharacters(part: AssistantPart): number {
  if (part.type === 'tool-call') return part.name.length + part.input.length;
  if (part.type === 'provider-result') return JSON.stringify(part.result).length;
  return part.type === 'custom' ? 0 : part.text.length;
}

function inputCharacters(input: Input): number {
  if (typeof input === 'string') return input.length;
  let characters = 0;
  for (const part of input) characters += part.type === 'text' ? part.text.length : IMAGE_CHARACTERS;
  return characters;
}
