/**
 * What went wrong with a gateway, a lane or a script file, for the program that set it up. An agent never sees it:
 * agents get HTTP errors in their provider's shape (`RequestError`).
 */
export type GatewayErrorCode =
  | 'listen-failed'
  | 'gateway-closed'
  | 'ledger-unwritable'
  | 'invalid-script'
  | 'invalid-upstream'
  | 'key-unavailable'
  | 'cassette-unreadable'
  | 'cassette-unwritable';

export class GatewayError extends Error {
  override readonly name = 'GatewayError';
  readonly code: GatewayErrorCode;

  constructor(code: GatewayErrorCode, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}
