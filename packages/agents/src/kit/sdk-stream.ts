import type { JsonObject, StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { textIn } from './fields.ts';
import type { NativeMapper, NativeSummary } from './native-mapper.ts';
import { SUMMARY_TEXT_BYTES } from './session-record.ts';
import { textTail } from './text-tail.ts';

/**
 * Maps what the bridge of an SDK printed: the messages of the SDK, which another mapper knows, and the lines of the
 * bridge itself.
 */
export class SdkStream<Inner extends NativeMapper = NativeMapper> implements NativeMapper {
  readonly inner: Inner;
  readonly #kind: string;
  readonly #innerKind: string;
  #isBridge = false;
  #hasMessages = false;
  #version: string | undefined;
  #failure: string | undefined;

  /** `innerKind`: the agent whose messages the SDK passes on. */
  constructor(kind: string, innerKind: string, inner: Inner) {
    this.#kind = kind;
    this.#innerKind = innerKind;
    this.inner = inner;
  }

  map(item: JsonObject): StreamEvent[] | undefined {
    switch (item.type) {
      case 'sdk.loaded':
        this.#isBridge = true;
        this.#version = textIn(item.version);
        return [];
      // The host reports the question with its decision.
      case 'sdk.ask':
      case 'sdk.ended':
        return [];
      case 'sdk.failed':
        return this.#failed(textIn(item.message) ?? '');
      default:
        this.#hasMessages = true;
        return this.inner.map(item)?.map((event) => this.#named(event));
    }
  }

  #named(event: StreamEvent): StreamEvent {
    if (event.type !== 'session.started') return event;
    const version = event.runtimeVersion ?? this.#version;
    return { ...event, runtime: this.#kind, ...present({ runtimeVersion: version }) };
  }

  /** An SDK also throws what its last message said. */
  #failed(message: string): StreamEvent[] {
    if (this.inner.summary().ending !== undefined) return [];
    this.#failure = textTail(message, SUMMARY_TEXT_BYTES);
    return [{ type: 'error', message }];
  }

  end(): StreamEvent[] {
    return this.inner.end?.() ?? [];
  }

  refusals = (): number => this.inner.refusals?.() ?? 0;

  summary(): NativeSummary {
    const { facts = {}, metadata, ...inner } = this.inner.summary();
    const { approvalPolicy, ...others } = facts;
    // Without the lines of a bridge, the agent itself printed this.
    const isInner = this.#hasMessages && !this.#isBridge;
    return {
      ...inner,
      // The host sets the policy; the mode of the program behind the SDK is none.
      facts: others,
      metadata: { ...metadata, ...(this.#version !== undefined && { sdk: { version: this.#version } }) },
      ...(isInner && { otherKind: this.#innerKind }),
      ...(this.#failure !== undefined && { ending: 'failed', failure: this.#failure }),
    };
  }
}
