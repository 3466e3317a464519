import type { JsonObject } from '@whetstone/events';
import type { WireProtocol } from './neutral.ts';

/** The body of an error answer in the shape of the wire's provider. */
export function providerError(wire: WireProtocol, status: number, message: string): JsonObject {
  switch (wire) {
    case 'anthropic-messages':
      return { type: 'error', error: { type: anthropicType(status), message } };
    case 'openai-responses':
    case 'openai-chat-completions': {
      const code = status === 401 ? 'invalid_api_key' : null;
      return { error: { message, type: openaiType(status), param: null, code } };
    }
    case 'gemini-generate-content':
      return { error: { code: status, message, status: googleStatus(status) } };
  }
}

const sharedTypes: Record<number, string> = {
  401: 'authentication_error',
  403: 'permission_error',
  404: 'not_found_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
};

const anthropicTypes: Record<number, string> = {
  ...sharedTypes,
  504: 'timeout_error',
  529: 'overloaded_error',
};

const anthropicType = (status: number): string =>
  anthropicTypes[status] ?? (status >= 500 ? 'api_error' : 'invalid_request_error');

const openaiType = (status: number): string =>
  sharedTypes[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');

/** https://google.aip.dev/193: `google.rpc.Code` for an HTTP status. */
const googleStatuses: Record<number, string> = {
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  429: 'RESOURCE_EXHAUSTED',
  500: 'INTERNAL',
  501: 'UNIMPLEMENTED',
  504: 'DEADLINE_EXCEEDED',
};

const googleStatus = (status: number): string =>
  googleStatuses[status] ?? (status >= 500 ? 'UNAVAILABLE' : 'INVALID_ARGUMENT');

/** The status at which agents give up. Codex retries every other 4xx; Claude Code sends a 400 again, shorter. */
export const finalStatus = (wire: WireProtocol): number => (wire === 'anthropic-messages' ? 403 : 400);
