import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import { type AgentFacts, parseJson, type StreamEvent } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import {
  type JsonLinesReader,
  type JsonLinesSummary,
  readDocument,
  readJsonLines,
} from '../kit/read-json-lines.ts';
import { settleRefusals } from '../kit/settle-refusals.ts';
import { kindNamed, type NativeAgentKind, nativeAgentOf, readableKinds } from './native-agents.ts';

/** How much of the input decides which kind and form it has. */
const PROBE_BYTES = 256 * 1024;
/** Limit for a JSON document of many lines, which is only recognized as a whole. */
const DOCUMENT_PROBE_BYTES = 64 * 1024 * 1024;
/** If more of its items are unknown, the output is not that agent's. */
const STRANGE_SHARE = 0.5;

type Emit = (event: StreamEvent) => void;

/** The summary of an agent's output, and which agent printed it. */
export type NativeOutput = JsonLinesSummary & {
  kind: NativeAgentKind;
  /** `stream`: what the agent printed. `transcript`: what it kept. */
  form: 'stream' | 'transcript';
};

type Form = Pick<NativeOutput, 'kind' | 'form'> & {
  /** One JSON document, and not JSON Lines. */
  isDocument: boolean;
  open(emit: Emit): JsonLinesReader;
};

export type ParseOptions = {
  /** Called with each event, in order. What has no mapping is a `raw` event, so nothing is lost. */
  emit: Emit;
  /** Default: the form that knows more items of the first 256 KiB. */
  form?: NativeOutput['form'];
};

/**
 * Reads what an agent printed or kept.
 *
 * @param kind `undefined`: the kind that knows the most items of the first 256 KiB.
 * @throws WhetstoneError `agent-kind-unknown` for a kind that cannot be read, and for input that no kind recognizes;
 * `agent-kind-wrong` for input that another kind recognizes, and this one does not; `agent-form-unknown` for a form that
 * the kind does not have
 */
export async function parseNative(
  kind: string | undefined,
  source: AsyncIterable<Buffer | string>,
  { emit, form }: ParseOptions,
): Promise<NativeOutput> {
  const kinds = kind === undefined ? readableKinds : [readableKind(kind)];
  const forms = kinds.flatMap(formsOf).filter((one) => form === undefined || one.form === form);
  if (forms.length === 0) {
    throw new WhetstoneError('agent-form-unknown', `${kind} has no ${form} that can be read.`, {});
  }
  const held: Buffer[] = [];
  let heldBytes = 0;
  let probeBytes = PROBE_BYTES;
  let opened: { form: Form; reader: JsonLinesReader } | undefined;
  const choose = () => {
    const beginning = Buffer.concat(held);
    const chosen = bestForm(forms, beginning, kind === undefined);
    if (kind !== undefined) checkKind(chosen, beginning);
    const reader = chosen.open(settleRefusals(emit));
    for (const chunk of held) reader.push(chunk);
    return { form: chosen, reader };
  };
  for await (const piece of source) {
    const chunk = Buffer.from(piece);
    if (opened) {
      opened.reader.push(chunk);
      continue;
    }
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes < probeBytes) continue;
    if (probeBytes === PROBE_BYTES && mayBeDocument(forms, Buffer.concat(held))) {
      probeBytes = DOCUMENT_PROBE_BYTES;
    } else {
      opened = choose();
    }
  }
  opened ??= choose();
  return { ...opened.reader.end(), kind: opened.form.kind, form: opened.form.form };
}

function readableKind(kind: string): NativeAgentKind {
  const known = readableKinds.find((one) => one === kindNamed(kind));
  if (known !== undefined) return known;
  const meant = didYouMean(kind, readableKinds);
  throw new WhetstoneError('agent-kind-unknown', `Whetstone cannot read the output of "${kind}".`, {
    hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${readableKinds.join(', ')}`,
  });
}

function formsOf(kind: NativeAgentKind): Form[] {
  const { stream, transcript } = nativeAgentOf(kind) ?? {};
  const isDocument = transcript?.kind === 'printed';
  const read = isDocument ? readDocument : readJsonLines;
  const streamForm: Form | undefined = stream && {
    ...{ kind, form: 'stream', isDocument: false },
    // Earlier turns of the session are not known, so the usage of the session is not that of the turn.
    open: (emit) => readJsonLines(stream.open({}, 'unread'), emit),
  };
  const transcriptForm: Form | undefined = transcript && {
    ...{ kind, form: 'transcript', isDocument },
    open: (emit) => read(transcript.createMapper({}), emit),
  };
  return [streamForm, transcriptForm].filter((form) => form !== undefined);
}

/** The form with the smallest share of items that it does not know; the first of equal ones. */
function bestForm(forms: readonly Form[], beginning: Buffer, isAnyKind: boolean): Form {
  const [best] = probed(forms, beginning);
  if (best && (!isAnyKind || isRecognized(best))) return best.form;
  const message = 'This is not the output of an agent that Whetstone can read.';
  throw new WhetstoneError('agent-kind-unknown', message, { hint: `known: ${readableKinds.join(', ')}` });
}

type Probe = { strangeShare: number; isTelling: boolean; otherKind?: string };

const probed = (forms: readonly Form[], beginning: Buffer): (Probe & { form: Form })[] =>
  forms
    .map((form) => ({ form, ...probe(form, beginning) }))
    .sort((left, right) => left.strangeShare - right.strangeShare);

const isRecognized = ({ isTelling, strangeShare, otherKind }: Probe): boolean =>
  isTelling && strangeShare < STRANGE_SHARE && otherKind === undefined;

/** @throws WhetstoneError `agent-kind-wrong` */
function checkKind(form: Form, beginning: Buffer): void {
  if (isRecognized(probe(form, beginning))) return;
  const likely = likelyKind(beginning);
  if (likely !== undefined && likely !== form.kind) throw wrongKind(form.kind, likely);
}

export function wrongKind(kind: string, likely: NativeAgentKind): WhetstoneError {
  return new WhetstoneError(
    'agent-kind-wrong',
    `This is not the output of ${kind}. It looks like that of ${likely}.`,
    { hint: `Read it as ${likely}.` },
  );
}

/** The kind that recognizes the beginning of an output; `undefined` if none does. */
export function likelyKind(beginning: Buffer): NativeAgentKind | undefined {
  return probed(readableKinds.flatMap(formsOf), beginning).find(isRecognized)?.form.kind;
}

/** `isTelling`: it knows of more than errors, which many formats write alike. */
function probe({ isDocument, open }: Form, beginning: Buffer): Probe {
  let isTelling = false;
  const reader = open(({ type }) => {
    isTelling ||= type !== 'raw' && type !== 'error';
  });
  const firstLineEnd = beginning.indexOf('\n') + 1;
  reader.push(isDocument ? beginning : beginning.subarray(0, firstLineEnd + PROBE_BYTES));
  const { unknown, malformed, lines, otherKind } = reader.end();
  const strangeShare = lines === 0 ? 1 : (unknown + malformed) / lines;
  return { isTelling, strangeShare, ...present({ otherKind }) };
}

/** Whether one of the forms is a document, and the first line is not a JSON value of its own. */
function mayBeDocument(forms: readonly Form[], beginning: Buffer): boolean {
  if (!forms.some(({ isDocument }) => isDocument)) return false;
  return parseJson(beginning.toString('utf8', 0, beginning.indexOf('\n'))) === undefined;
}

/** What the output says and its events cannot carry. The cost of a stream is that of its turn. */
export const metadataFacts = ({ kind, form, sessionId, costUsd, facts }: NativeOutput): AgentFacts => ({
  runtime: kind,
  ...facts,
  ...present({ sessionId }),
  ...(form === 'stream' && present({ costUsd })),
});
