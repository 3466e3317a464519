import { isJsonObject } from '@whetstone/events';

/** The package sends tool results as `{ name, content }`; the models know the API's `{ output }` and `{ error }`. */
export function withNativeResults(send: typeof fetch): typeof fetch {
  return (input, init) => {
    const body = init?.body;
    if (typeof body !== 'string' || !body.includes('"functionResponse"')) return send(input, init);
    return send(input, { ...init, body: JSON.stringify(JSON.parse(body, nativeResult)) });
  };
}

function nativeResult(key: string, value: unknown): unknown {
  if (key !== 'functionResponse' || !isJsonObject(value) || !isJsonObject(value.response)) return value;
  const { response } = value;
  if (response.name !== value.name) return value;
  if ('content' in response) return { ...value, response: { output: response.content } };
  return 'error' in response ? { ...value, response: { error: response.error } } : value;
}
