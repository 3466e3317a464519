import { hash } from 'node:crypto';

/**
 * Lines of JSON that are chained: each ends with the hash of itself and of the chain before it, so that a line which was
 * changed, added, moved or taken away no longer fits.
 */
export type Chain = {
  /** The line of an object, without a line feed. */
  add(entry: object): string;
  /** What is wrong with a line, as the rest of a sentence; `undefined`: it follows the lines before it. */
  problem(line: string): string | undefined;
  /** The hash up to the last line that follows. */
  readonly head: string;
};

const END = /,"chain":"([0-9a-f]{64})"\}$/;

/** `start`: what the first line follows. */
export function openChain(start: string): Chain {
  let head = hashOf('', start);
  return {
    add(entry) {
      const body = JSON.stringify(entry);
      head = hashOf(head, body);
      return `${body.slice(0, -1)},"chain":"${head}"}`;
    },
    problem(line) {
      const [end, stated] = END.exec(line) ?? [];
      if (end === undefined || stated === undefined)
        return 'has no hash, so something else than Whetstone wrote it';
      const isNext = hashOf(head, `${line.slice(0, -end.length)}}`) === stated;
      head = stated;
      return isNext
        ? undefined
        : 'does not follow the line before it: one of them was changed, moved or removed';
    },
    get head() {
      return head;
    },
  };
}

const hashOf = (before: string, text: string): string => hash('sha256', `${before}\n${text}`);
