import { WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';
import type { StreamEvent } from '@whetstone/events';
import { readDocument } from '../kit/read-document.ts';
import { type JsonLinesReader, type JsonLinesSummary, readJsonLines } from '../kit/read-json-lines.ts';
import { type NativeAgentKind, nativeAgentOf, readableKinds } from './native-agents.ts';

/** By whose first lines a stream is told from a transcript. */
const PROBE_BYTES = 256 * 1024;

type Emit = (event: StreamEvent) => void;
type Form = { form: 'stream' | 'transcript'; open(emit: Emit): JsonLinesReader };

export type ParseOptions = {
  emit: Emit;
  /** Default: whichever of the two knows more of the first 256 KiB. */
  form?: 'stream' | 'transcript';
};

/**
 * Reads what an agent of a kind printed or kept. Nothing is lost: what has no mapping is a `raw` event.
 *
 * @throws WhetstoneError `agent-kind-unknown`, and `agent-form-unknown` for a form that the kind does not have
 */
export async function parseNative(
  kind: string,
  source: AsyncIterable<Buffer | string>,
  { emit, form }: ParseOptions,
): Promise<JsonLinesSummary & { form: Form['form'] }> {
  const forms = formsOf(kind).filter((one) => form === undefined || one.form === form);
  if (forms.length === 0) {
    throw new WhetstoneError('agent-form-unknown', `${kind} has no ${form} that can be read.`, {});
  }
  const held: Buffer[] = [];
  let heldBytes = 0;
  let reader: JsonLinesReader | undefined;
  let chosen: Form | undefined;
  const choose = (): JsonLinesReader => {
    chosen = bestForm(forms, Buffer.concat(held));
    const opened = chosen.open(emit);
    for (const chunk of held) opened.push(chunk);
    return opened;
  };
  for await (const piece of source) {
    const chunk = Buffer.from(piece);
    if (reader) {
      reader.push(chunk);
      continue;
    }
    held.push(chunk);
    heldBytes += chunk.length;
    if (heldBytes >= PROBE_BYTES) reader = choose();
  }
  reader ??= choose();
  return { ...reader.end(), form: chosen?.form ?? 'stream' };
}

function formsOf(kind: string): Form[] {
  const found = nativeAgentOf(kind);
  if (!found || !readableKinds.includes(kind as NativeAgentKind)) {
    const meant = didYouMean(kind, readableKinds);
    throw new WhetstoneError('agent-kind-unknown', `Whetstone cannot read the output of "${kind}".`, {
      hint: `${meant === undefined ? '' : `did you mean ${meant}? `}known: ${readableKinds.join(', ')}`,
    });
  }
  const { stream, transcript } = found;
  const forms: Form[] = [];
  if (stream) forms.push({ form: 'stream', open: (emit) => readJsonLines(stream.open({}), emit) });
  if (transcript) {
    const read = transcript.kind === 'files' ? readJsonLines : readDocument;
    forms.push({ form: 'transcript', open: (emit) => read(transcript.createMapper({}), emit) });
  }
  return forms;
}

/** The form with the fewest items that it does not know; the first of equal ones. */
function bestForm(forms: readonly Form[], beginning: Buffer): Form {
  const scored = forms.map((form) => {
    const probe = form.open(() => {});
    probe.push(beginning);
    const { unknown, malformed, lines } = probe.end();
    return { form, strange: lines === 0 ? 1 : (unknown + malformed) / lines };
  });
  const [first, ...rest] = scored;
  if (!first) throw new TypeError('There is no form to choose from.');
  return rest.reduce((best, one) => (one.strange < best.strange ? one : best), first).form;
}
