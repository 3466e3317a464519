/** A request that is answered with an error. `message` goes to the agent, so it says what to mend and holds no secret. */
export class RequestError extends Error {
  override readonly name = 'RequestError';
  /** The HTTP status of the answer. */
  readonly status: number;

  constructor(status: number, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}
