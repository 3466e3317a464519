import { ENDPOINT_RULE } from './endpoint-rule.ts';
import { GatewayError } from './gateway-error.ts';

/**
 * The endpoint that the path of a request names, without its version and without a slash at its end: `/v1/files/` is
 * `/files`. `undefined` for a path that a server could read in another way than the gateway: with encoded characters,
 * with `.`, `..` or empty segments.
 */
export function endpointOf(path: string): string | undefined {
  if (!/^(\/(?!\.{1,2}(\/|$))[\w.~:@+,=-]+)+\/?$/.test(path)) return undefined;
  return path.replace(/^\/v1(beta|alpha)?(?=\/)/, '').replace(/\/$/, '');
}

export type AllowsEndpoint = (method: string, endpoint: string) => boolean;

/** @throws GatewayError `endpoint-invalid` */
export function allowedEndpoints(rules: readonly string[]): AllowsEndpoint {
  const tests = rules.map((rule) => {
    const [, method, path = '', rest] = ENDPOINT_RULE.exec(rule) ?? [];
    if (path === '') throw new GatewayError('endpoint-invalid', `"${rule}" does not name an endpoint.`);
    const wanted = path.replace(/^\/v1(beta|alpha)?(?=\/)/, '').replace(/(?<=.)\/$/, rest ? '/' : '');
    return (asked: string, endpoint: string): boolean =>
      (method === undefined || method === asked) &&
      (rest ? endpoint.startsWith(wanted) : endpoint === wanted);
  });
  return (method, endpoint) => tests.some((matches) => matches(method, endpoint));
}
