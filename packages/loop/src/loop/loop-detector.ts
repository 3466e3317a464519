import { isJsonObject, type JsonValue } from '@whetstone/events/json';
import type { ToolCallPart } from '../conversation/turn.ts';
import type { SessionTools } from '../tools/session-tools.ts';

/** Length of the longest cycle that is looked for. */
const LONGEST_PERIOD = 5;

/** Detects that the last tool calls repeat in a cycle (loop spec 2.10): each equals the call one period before it. */
export class LoopDetector {
  readonly #window: number;
  readonly #recent: string[] = [];

  constructor(window: number) {
    this.#window = window;
  }

  /** Adds the calls of one round. Returns the length of the cycle that they complete, if any, and then starts anew. */
  observe(calls: readonly ToolCallPart[], tools: Pick<SessionTools, 'get'>): number | undefined {
    for (const call of calls) {
      if (tools.get(call.name)?.exemptFromLoopDetection) continue;
      this.#recent.push(signature(call));
      if (this.#recent.length > this.#window) this.#recent.shift();
    }
    const period = this.#period();
    if (period !== undefined) this.reset();
    return period;
  }

  /** Call it for each user input: a request that the user repeats is not a loop. */
  reset(): void {
    this.#recent.length = 0;
  }

  #period(): number | undefined {
    if (this.#recent.length < this.#window) return undefined;
    const longest = Math.min(LONGEST_PERIOD, Math.floor(this.#window / 2));
    for (let period = 1; period <= longest; period += 1) if (this.#repeatsAfter(period)) return period;
    return undefined;
  }

  /** Looks from the newest call on: where nothing repeats, that one settles it. */
  #repeatsAfter(period: number): boolean {
    for (let index = this.#recent.length - 1; index >= period; index -= 1)
      if (this.#recent[index] !== this.#recent[index - period]) return false;
    return true;
  }
}

/** Equal for equal calls, whatever the order of the keys. */
function signature(call: ToolCallPart): string {
  return `${call.name}:${call.freeform ? call.input : canonicalJson(call.input)}`;
}

function canonicalJson(text: string): string {
  try {
    return withSortedKeys(JSON.parse(text));
  } catch {
    return text;
  }
}

function withSortedKeys(value: JsonValue): string {
  if (Array.isArray(value)) return `[${value.map(withSortedKeys).join()}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const fields = sortedKeys(value).map(
    (key) => `${JSON.stringify(key)}:${withSortedKeys(value[key] ?? null)}`,
  );
  return `{${fields.join()}}`;
}

/** A model usually writes the keys of a tool in the same order each time; only sorting them costs. */
function sortedKeys(value: object): string[] {
  const keys = Object.keys(value);
  return keys.every((key, index) => index === 0 || (keys[index - 1] ?? '') < key) ? keys : keys.sort();
}
