import type { JsonObject } from '@whetstone/events';
import type { WireProtocol } from './neutral.ts';

/** The body of an error answer in the shape of the wire's provider. */
export function providerError(wire: WireProtocol, status: number, message: string): JsonObject {
  const type = errorType(status);
  switch (wire) {
    case 'anthropic-messages':
      return { type: 'error', error: { type, message } };
    case 'openai-responses':
      return { error: { message, type, param: null, code: status === 401 ? 'invalid_api_key' : null } };
  }
}

function errorType(status: number): string {
  switch (status) {
    case 401:
      return 'authentication_error';
    case 403:
      return 'permission_error';
    case 404:
      return 'not_found_error';
    case 413:
      return 'request_too_large';
    default:
      return status >= 500 ? 'api_error' : 'invalid_request_error';
  }
}
