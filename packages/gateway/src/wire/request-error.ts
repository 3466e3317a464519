import type { OutgoingHttpHeaders } from 'node:http';

/** A request that gets an error answer. The agent sees `message`, so it says what to fix and contains no secret. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  readonly status: number;
  readonly headers: OutgoingHttpHeaders;

  constructor(
    status: number,
    message: string,
    { headers = {}, ...options }: ErrorOptions & { headers?: OutgoingHttpHeaders } = {},
  ) {
    super(message, options);
    this.status = status;
    this.headers = headers;
  }
}
