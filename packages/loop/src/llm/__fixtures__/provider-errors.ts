import { present } from '@whetstone/events/present';
import type { LlmErrorCode } from '../provider-error.ts';
import type { NativeProvider } from '../native-providers.ts';
import { refusalOf } from './history-rules.ts';
import { malformedHistories } from './malformed-histories.ts';

/** An answer of a provider, or of what stands in front of it, and what the loop makes of it. */
export type ProviderError = {
  wire: NativeProvider;
  from: string;
  what: string;
  status: number;
  headers?: Record<string, string>;
  /** An object is sent as JSON, a text as HTML, a list as server-sent events. */
  body: unknown;
  code: LlmErrorCode;
  /** Milliseconds until the next attempt, `backoff` for the loop's own, `no` where there is none. */
  retried: number | 'backoff' | 'no';
};

const openai = (message: string, type: string, code: string | null, param: string | null = null) => ({
  error: { message, type, param, code },
});
const anthropic = (type: string, message: string) => ({
  type: 'error',
  error: { type, message },
  request_id: 'req_011CSHoEeqs5C35K2UUqR7Fy',
});
const google = (code: number, status: string, message: string, details?: unknown[]) => ({
  error: { code, message, status, ...present({ details }) },
});
const html = (title: string) =>
  `<html>\r\n<head><title>${title}</title></head>\r\n<body>\r\n<center><h1>${title}</h1></center>\r\n</body>\r\n</html>`;

const type = (name: string) => `type.googleapis.com/google.rpc.${name}`;
const freeTier = (quotaId: string, limit: string, delay: string) => {
  const message =
    'You exceeded your current quota, please check your plan and billing details. For more information on this error, ' +
    'head to: https://ai.google.dev/gemini-api/docs/rate-limits.\n* Quota exceeded for metric: generativelanguage.' +
    `googleapis.com/generate_content_free_tier_requests, limit: ${limit}\nPlease retry in ${delay}.`;
  const violation = {
    quotaMetric: 'generativelanguage.googleapis.com/generate_content_free_tier_requests',
    quotaId,
    quotaDimensions: { location: 'global', model: 'gemini-2.5-flash' },
    quotaValue: limit,
  };
  return google(429, 'RESOURCE_EXHAUSTED', message, [
    { '@type': type('QuotaFailure'), violations: [violation] },
    { '@type': type('RetryInfo'), retryDelay: `${Math.floor(Number.parseFloat(delay))}s` },
  ]);
};
const errorInfo = (reason: string) => [
  { '@type': type('ErrorInfo'), reason, domain: 'googleapis.com', metadata: {} },
];

type Row = [
  what: string,
  status: number,
  code: LlmErrorCode,
  retried: ProviderError['retried'],
  body: unknown,
  headers?: Record<string, string>,
];

const rows = (wire: NativeProvider, from: string, list: readonly Row[]): ProviderError[] =>
  list.map(([what, status, code, retried, body, headers]) => ({
    wire,
    from,
    what,
    status,
    code,
    retried,
    body,
    ...present({ headers }),
  }));

export const providerErrors: readonly ProviderError[] = [
  ...rows('openai', 'OpenAI', [
    [
      'wrong key (`invalid_api_key`)',
      401,
      'model-authentication-failed',
      'no',
      openai('Incorrect API key provided: sk-abcd****wxyz.', 'invalid_request_error', 'invalid_api_key'),
    ],
    [
      'country not served',
      403,
      'model-access-denied',
      'no',
      openai('Country, region, or territory not supported', 'request_forbidden', 'unsupported_country_region_territory'),
    ],
    [
      'unknown model (`model_not_found`)',
      404,
      'model-not-found',
      'no',
      openai('The model `gpt-9` does not exist or you do not have access to it.', 'invalid_request_error', 'model_not_found'),
    ],
    [
      'prompt too long (`context_length_exceeded`)',
      400,
      'model-context-overflow',
      'no',
      openai(
        'Your input exceeds the context window of this model. Please adjust your input and try again.',
        'invalid_request_error',
        'context_length_exceeded',
        'input',
      ),
    ],
    [
      'no credit (`insufficient_quota`)',
      429,
      'model-quota-exceeded',
      'no',
      openai(
        'You exceeded your current quota, please check your plan and billing details.',
        'insufficient_quota',
        'insufficient_quota',
      ),
    ],
    [
      'spending limit (`billing_hard_limit_reached`)',
      400,
      'model-quota-exceeded',
      'no',
      openai('Billing hard limit has been reached', 'invalid_request_error', 'billing_hard_limit_reached'),
    ],
    [
      'tokens per minute (`rate_limit_exceeded`)',
      429,
      'model-rate-limit',
      2_084,
      openai(
        'Rate limit reached for gpt-5.5 in organization org-x on tokens per min (TPM): Limit 30000, Used 29042, ' +
          'Requested 2000. Please try again in 2.084s. Visit https://platform.openai.com/account/rate-limits to learn more.',
        'tokens',
        'rate_limit_exceeded',
      ),
    ],
    [
      'requests per day, more than a minute away',
      429,
      'model-rate-limit',
      'no',
      openai(
        'Rate limit reached for gpt-5.5 on requests per day (RPD): Limit 200, Used 200, Requested 1. Please try again in 7m12s.',
        'requests',
        'rate_limit_exceeded',
      ),
    ],
    ...(
      [
        ['a wait in hours', 'Rate limit reached. Please try again in 2 hours.', 'no'],
        ['a wait in days', 'You have hit your usage limit. Try again in 3 days 4 hours 9 minutes.', 'no'],
        ['a wait before a retry', 'Rate limit of 150 per 86400s exceeded. Please wait 33280 seconds before retrying.', 'no'],
        ['a wait in short words', 'Rate limit reached. Please retry in about 30 secs.', 30_000],
      ] as const
    ).map(
      ([what, message, retried]): Row => [what, 429, 'model-rate-limit', retried, openai(message, 'requests', 'rate_limit_exceeded')],
    ),
    [
      'a wait in its text, where `retry-after` is no time',
      429,
      'model-rate-limit',
      7_000,
      openai('Rate limit reached. Please try again in 7s.', 'requests', 'rate_limit_exceeded'),
      { 'retry-after': '7s' },
    ],
    [
      'a request larger than the limit per minute',
      429,
      'model-rate-limit',
      'no',
      openai(
        'Request too large for gpt-5.5 on tokens per min (TPM): Limit 30000, Requested 40000. The input or output tokens ' +
          'must be reduced in order to run successfully.',
        'tokens',
        'rate_limit_exceeded',
      ),
    ],
    [
      'failure of the server',
      500,
      'model-server-error',
      'backoff',
      openai('The server had an error processing your request.', 'server_error', null),
    ],
    [
      'overloaded',
      503,
      'model-server-error',
      'backoff',
      openai('The engine is currently overloaded, please try again later', 'service_unavailable_error', null),
    ],
  ]),
  ...rows('anthropic', 'Anthropic', [
    ['wrong key', 401, 'model-authentication-failed', 'no', anthropic('authentication_error', 'invalid x-api-key')],
    [
      'no permission',
      403,
      'model-access-denied',
      'no',
      anthropic('permission_error', 'Your API key does not have permission to use the specified resource.'),
    ],
    ['unknown model', 404, 'model-not-found', 'no', anthropic('not_found_error', 'model: claude-9')],
    [
      'prompt too long',
      400,
      'model-context-overflow',
      'no',
      anthropic('invalid_request_error', 'prompt is too long: 210435 tokens > 200000 maximum'),
    ],
    [
      'prompt and output limit too long together',
      400,
      'model-context-overflow',
      'no',
      anthropic(
        'invalid_request_error',
        'input length and `max_tokens` exceed context limit: 190154 + 32000 > 200000, decrease input length or ' +
          '`max_tokens` and try again',
      ),
    ],
    [
      'request too large in bytes',
      413,
      'model-context-overflow',
      'no',
      anthropic('request_too_large', 'Request exceeds the maximum size'),
    ],
    [
      'no credit',
      400,
      'model-quota-exceeded',
      'no',
      anthropic(
        'invalid_request_error',
        'Your credit balance is too low to access the Anthropic API. Please go to Plans & Billing to upgrade or purchase credits.',
      ),
    ],
    [
      'rate limit, with `retry-after`',
      429,
      'model-rate-limit',
      12_000,
      anthropic('rate_limit_error', "This request would exceed your organization's rate limit of 30,000 input tokens per minute"),
      { 'retry-after': '12' },
    ],
    ['failure of the server', 500, 'model-server-error', 'backoff', anthropic('api_error', 'Internal server error')],
    ['overloaded', 529, 'model-server-error', 'backoff', anthropic('overloaded_error', 'Overloaded')],
    [
      'overloaded, after the response began',
      200,
      'model-server-error',
      'backoff',
      [anthropic('overloaded_error', 'Overloaded')],
    ],
  ]),
  ...rows('google', 'Gemini', [
    [
      'wrong key (`API_KEY_INVALID`)',
      400,
      'model-authentication-failed',
      'no',
      google(400, 'INVALID_ARGUMENT', 'API key not valid. Please pass a valid API key.', errorInfo('API_KEY_INVALID')),
    ],
    [
      'API not enabled',
      403,
      'model-access-denied',
      'no',
      google(403, 'PERMISSION_DENIED', 'Generative Language API has not been used in project 1 before or it is disabled.', errorInfo('SERVICE_DISABLED')),
    ],
    [
      'unknown model',
      404,
      'model-not-found',
      'no',
      google(404, 'NOT_FOUND', 'models/gemini-9 is not found for API version v1beta, or is not supported for generateContent.'),
    ],
    [
      'prompt too long',
      400,
      'model-context-overflow',
      'no',
      google(400, 'INVALID_ARGUMENT', 'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).'),
    ],
    [
      'limit per minute, with `RetryInfo`',
      429,
      'model-rate-limit',
      7_400,
      freeTier('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', '10', '7.4s'),
    ],
    [
      'limit per day',
      429,
      'model-quota-exceeded',
      'no',
      freeTier('GenerateRequestsPerDayPerProjectPerModel-FreeTier', '250', '41.2s'),
    ],
    [
      'a model that the plan does not have (limit 0)',
      429,
      'model-quota-exceeded',
      'no',
      freeTier('GenerateRequestsPerMinutePerProjectPerModel-FreeTier', '0', '7.4s'),
    ],
    [
      'capacity',
      429,
      'model-rate-limit',
      'backoff',
      google(429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'),
    ],
    ['failure of the server', 500, 'model-server-error', 'backoff', google(500, 'INTERNAL', 'An internal error has occurred.')],
    [
      'overloaded',
      503,
      'model-server-error',
      'backoff',
      google(503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'),
    ],
    ['deadline', 504, 'model-server-error', 'backoff', google(504, 'DEADLINE_EXCEEDED', 'Deadline expired before operation could complete.')],
  ]),
  ...rows('openai', 'Azure', [
    [
      'wrong key',
      401,
      'model-authentication-failed',
      'no',
      { error: { code: '401', message: 'Access denied due to invalid subscription key or wrong API endpoint.' } },
    ],
    [
      'unknown deployment',
      404,
      'model-not-found',
      'no',
      { error: { code: 'DeploymentNotFound', message: 'The API deployment for this resource does not exist.' } },
    ],
    [
      'rate limit',
      429,
      'model-rate-limit',
      26_000,
      {
        error: {
          code: '429',
          message: 'Requests have exceeded token rate limit of your current OpenAI S0 pricing tier. Please retry after 26 seconds.',
        },
      },
    ],
  ]),
  ...rows('anthropic', 'Bedrock', [
    [
      'wrong key',
      403,
      'model-authentication-failed',
      'no',
      { message: 'The security token included in the request is invalid.' },
      { 'x-amzn-errortype': 'UnrecognizedClientException' },
    ],
    ['prompt too long', 400, 'model-context-overflow', 'no', { message: 'Input is too long for requested model.' }],
    [
      'throttled',
      429,
      'model-rate-limit',
      'backoff',
      { message: 'Too many requests, please wait before trying again.' },
      { 'x-amzn-errortype': 'ThrottlingException' },
    ],
    ['throttled, as a client error', 400, 'model-rate-limit', 'backoff', { __type: 'ThrottlingException', message: 'Rate exceeded' }],
    ['failure of the model', 424, 'model-server-error', 'backoff', { message: 'The model returned an error.' }, { 'x-amzn-errortype': 'ModelErrorException' }],
  ]),
  ...rows('openai', 'a proxy', [
    ['credentials for the proxy, which Node reports as a broken connection', 407, 'model-network-failed', 'backoff', html('407 Proxy Authentication Required')],
    ['page of a firewall', 403, 'model-access-denied', 'no', html('Access Denied')],
    ['bad gateway', 502, 'model-server-error', 'backoff', html('502 Bad Gateway')],
    ['maintenance page, with `retry-after`', 503, 'model-server-error', 3_000, html('503 Service Temporarily Unavailable'), { 'retry-after': '3' }],
    ['a limit of Cloudflare, with `retry_after` in its body', 429, 'model-rate-limit', 30_000, { error_code: 1015, error_name: 'rate_limited', retryable: true, retry_after: 30 }],
    ['a limit, with `retry_after` in its error', 429, 'model-rate-limit', 1_500, { error: { message: 'Slow down', type: 'rate_limit_error', retry_after: 1.5 } }],
    ['time-out of Cloudflare', 524, 'model-server-error', 'backoff', html('524: A timeout occurred')],
  ]),
  ...malformedHistories.map(
    ({ provider, what, body }): ProviderError => ({
      wire: provider,
      from: { openai: 'OpenAI', anthropic: 'Anthropic', google: 'Gemini' }[provider],
      what: `a history with ${what}`,
      status: 400,
      code: 'model-request-invalid',
      retried: 'no',
      body: refusalOf(provider, body),
    }),
  ),
];
