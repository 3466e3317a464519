import type { LedgerLine, ReadableExchange, ReadableMessage } from '@whetstone/gateway';
import { counted, dollars, seconds, tokens } from './format.ts';
import { oneLine, plainText } from './sanitize.ts';
import type { TerminalOptions } from './terminal.ts';

/** What is known of a model call: its ledger line, and its bodies if they were kept. */
export type ShownCall = {
  /** From 1, in the order of the ledger. */
  number: number;
  count: number;
  line: LedgerLine;
  bodies: (ReadableExchange & { request_omitted: number; reply_omitted: number }) | null;
};

/** One model call in full, for `whetstone show RUN CASE --call N`, without a newline at the end. */
export function renderCall({ number, count, line, bodies }: ShownCall, { colors }: TerminalOptions): string {
  const heading = (text: string) => ['', colors.bold(text)];
  const block = (text: string) => plainText(text).split('\n');
  const title = `Model call ${number} of ${count}: ${line.model_answered ?? line.model_asked ?? `${line.method} ${line.path}`}`;
  const messages = (all: readonly ReadableMessage[]) =>
    all.flatMap(({ role, parts }) =>
      parts.flatMap((part) => ['', colors.dim(oneLine(partTitle(role, part))), ...block(part.text)]),
    );
  const lines = [colors.bold(oneLine(title)), oneLine(factsOf(line))];
  if (!bodies) return [...lines, 'Its request and reply were not kept.'].join('\n');
  const { request, reply, request_omitted, reply_omitted } = bodies;
  const cut = [
    ...(request_omitted > 0 ? [`${counted(request_omitted, 'byte')} of the request were left out.`] : []),
    ...(reply_omitted > 0 ? [`${counted(reply_omitted, 'byte')} of the reply were left out.`] : []),
  ];
  const asked = request
    ? [
        ...heading('System prompt'),
        ...request.system.flatMap((text) => ['', ...block(text)]),
        ...heading(`Tools (${request.tools.length})`),
        oneLine(request.tools.map(({ name }) => name).join(', '), 10_000),
        ...heading(`Messages (${request.messages.length})`),
        ...messages(request.messages),
      ]
    : [...heading('Request'), 'It cannot be read. --json has what was kept of it.'];
  const answered = reply.length > 0 ? messages(reply) : ['No message. --json has what was sent.'];
  return [...lines, ...cut, ...asked, ...heading('Reply'), ...answered].join('\n');
}

const partTitle = (role: string, { kind, name }: ReadableMessage['parts'][number]): string =>
  kind === 'text' ? role : [role, kind, name].filter(Boolean).join(' · ');

function factsOf({ status, outcome, usage, cost_usd, total_ms, flags, error }: LedgerLine): string {
  return [
    `${status ?? ''} ${outcome}`.trim(),
    usage && usageText(usage),
    cost_usd !== null && dollars(cost_usd),
    seconds(total_ms / 1000),
    ...flags,
    error,
  ]
    .filter(Boolean)
    .join(' · ');
}

function usageText({ inputTokens, cacheReadTokens, outputTokens }: NonNullable<LedgerLine['usage']>): string {
  const cached = cacheReadTokens === undefined ? '' : `, ${tokens(cacheReadTokens, 0)} cached`;
  return `${tokens(inputTokens, 0)} in${cached}, ${tokens(outputTokens, 0)} out`;
}
