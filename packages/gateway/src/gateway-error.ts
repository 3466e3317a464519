import { WhetstoneError } from '@whetstone/errors';

/**
 * What went wrong with a gateway, a lane or a script file, for the program that set it up. An agent never sees it:
 * agents get HTTP errors in their provider's shape (`RequestError`).
 */
export class GatewayError extends WhetstoneError {
  override readonly name = 'GatewayError';
}
