import type { Socket } from 'node:dgram';

/** More names, and longer ones than the protocol has, are not evidence but a way to fill a disk. */
const MOST_NAMES = 200;

/** The names but `localhost` that programs of a sandbox asked for, each once, in the order of the first request. */
export type NameRequests = {
  readonly names: readonly string[];
  /** Answers each request at once: there is no such name. */
  answer(socket: Socket): void;
};

export function createNameRequests(): NameRequests {
  const names = new Set<string>();
  return {
    get names() {
      return [...names];
    },
    answer(socket) {
      socket.on('error', () => undefined);
      socket.on('message', (query, { port, address }) => {
        const question = readQuestion(query);
        if (!question) return;
        if (names.size < MOST_NAMES && question.name !== 'localhost') names.add(question.name);
        // After the end of its door nobody waits for it.
        socket.send(notFound(query, question.end), port, address, () => undefined);
      });
    },
  };
}

const HEADER_BYTES = 12;

/** The first question of a query (RFC 1035): its name, and where it ends. */
function readQuestion(query: Buffer): { name: string; end: number } | undefined {
  const labels: string[] = [];
  let at = HEADER_BYTES;
  for (;;) {
    const length = query[at];
    if (length === undefined || length > 63 || at > HEADER_BYTES + 255) return undefined;
    at += 1;
    if (length === 0) break;
    labels.push(query.toString('latin1', at, at + length).replaceAll(/[^\w-]/g, '?'));
    at += length;
  }
  const end = at + 4;
  return end > query.length || labels.length === 0
    ? undefined
    : { name: labels.join('.').toLowerCase(), end };
}

/** The header with the flags of an answer (QR, RD, RA, NXDOMAIN) and one question, which follows. */
function notFound(query: Buffer, end: number): Buffer {
  const answer = Buffer.from(query.subarray(0, end));
  answer.writeUInt16BE(0x8183, 2);
  for (const [index, count] of [1, 0, 0, 0].entries()) answer.writeUInt16BE(count, 4 + 2 * index);
  return answer;
}
