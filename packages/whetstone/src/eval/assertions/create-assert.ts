import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import {
  type AssertionHandle,
  type AssertionRecord,
  type Claim,
  type PendingAssertion,
  type SourcePosition,
  StopEval,
  type Verdict,
} from './assertion.ts';
import { type CalledFunction, callPosition } from './call-position.ts';

/** Records a claim and gives its handle. The position of the assertion is where `called` was called. */
export type Assert = (claim: Claim, called: CalledFunction) => AssertionHandle;

/** `record` gets each assertion when it is made; settle it when the eval has ended. */
export function createAssert(record: (made: PendingAssertion) => void): Assert {
  return (claim, called) => {
    const handle = new Handle(claim, callPosition(called));
    record(handle);
    return handle;
  };
}

type Settings = Pick<AssertionRecord, 'severity' | 'optional' | 'label' | 'threshold' | 'points'>;

class Handle implements AssertionHandle, PendingAssertion {
  readonly #name: string;
  readonly #verdict: Verdict | Promise<Verdict>;
  readonly #position: () => SourcePosition | undefined;
  readonly #settings: Settings = { severity: 'gate', optional: false };
  #stops = false;

  constructor({ name, verdict }: Claim, position: () => SourcePosition | undefined) {
    this.#name = name;
    // Handled here, so that a verdict that rejects before somebody awaits it does not end the process.
    this.#verdict = verdict instanceof Promise ? verdict.catch(notEvaluated) : verdict;
    this.#position = position;
  }

  gate(threshold?: number): this {
    this.#settings.severity = 'gate';
    return threshold === undefined ? this : this.#passAt(threshold, 'gate');
  }

  soft(): this {
    this.#settings.severity = 'soft';
    return this;
  }

  atLeast(score: number): this {
    return this.soft().#passAt(score, 'atLeast');
  }

  score(points: number): this {
    // Points below 0 would make the share of the points that a case got meaningless.
    if (!(Number.isFinite(points) && points > 0)) {
      throw new RangeError(`score(${points}): points are a number above 0.`);
    }
    this.#settings.points = points;
    return this;
  }

  optional(): this {
    this.#settings.optional = true;
    return this;
  }

  orStop(): this {
    this.#stops = true;
    return this;
  }

  label(text: string): this {
    this.#settings.label = text;
    return this;
  }

  // biome-ignore lint/suspicious/noThenProperty: an eval awaits the handle.
  then<Done = AssertionRecord, Failed = never>(
    onDone?: ((record: AssertionRecord) => Done | PromiseLike<Done>) | null,
    onFailed?: ((reason: unknown) => Failed | PromiseLike<Failed>) | null,
  ): Promise<Done | Failed> {
    return this.#awaited().then(onDone, onFailed);
  }

  async settle(): Promise<AssertionRecord> {
    const verdict = await this.#verdict;
    const { threshold, ...settings } = this.#settings;
    const { status, message } = threshold === undefined ? verdict : judge(verdict, threshold);
    const { score, events = [], text } = verdict;
    const at = this.#position();
    return {
      name: this.#name,
      ...settings,
      status,
      ...present({ score, threshold }),
      message,
      evidence: { events: [...events], ...present({ text }) },
      ...present({ at }),
    };
  }

  async #awaited(): Promise<AssertionRecord> {
    const record = await this.settle();
    const isFine = record.status === 'passed' || (record.status === 'unavailable' && record.optional);
    if (this.#stops && !isFine) throw new StopEval(record);
    return record;
  }

  #passAt(threshold: number, method: string): this {
    if (!(threshold >= 0 && threshold <= 1)) {
      throw new RangeError(`${method}(${threshold}): a score is a number from 0 to 1.`);
    }
    this.#settings.threshold = threshold;
    return this;
  }
}

/** The status at a threshold. Boolean verdicts have the score 1 or 0. */
function judge({ status, message, score }: Verdict, threshold: number): Pick<Verdict, 'status' | 'message'> {
  if (status === 'unavailable') return { status, message };
  const measured = score ?? (status === 'passed' ? 1 : 0);
  const isEnough = measured >= threshold;
  if (isEnough === (status === 'passed')) return { status, message };
  return {
    status: isEnough ? 'passed' : 'failed',
    message: `the score is ${measured.toFixed(2)}, and ${threshold} is needed`,
  };
}

const notEvaluated = (error: unknown): Verdict => ({
  status: 'unavailable',
  message: `it could not be evaluated: ${messageOf(error)}`,
});
