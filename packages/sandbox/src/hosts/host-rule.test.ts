import { expect, test } from 'vitest';
import { type HostRule, readHostRule, ruleFor } from './host-rule.ts';

test.each([
  ['npm.example.com', { name: 'npm.example.com', below: false }],
  ['Example.COM.', { name: 'example.com', below: false }],
  ['*.example.com', { name: 'example.com', below: true }],
  ['nexus:8081', { name: 'nexus', below: false, port: 8081 }],
  ['bücher.example', { name: 'xn--bcher-kva.example', below: false }],
])('the host %s is read', (text, rule) => {
  expect(readHostRule(text)).toEqual(rule);
});

test.each([
  ['https://example.com', 'is an address'],
  ['example.com/path', 'is an address'],
  ['', 'is not a host name'],
  ['*', 'is not a host name'],
  ['a.*.com', 'is not a host name'],
  ['a b', 'is not a host name'],
  ['a..b', 'is not a host name'],
  [`${'a'.repeat(64)}.com`, 'is not a host name'],
  ['*.com', 'is too much'],
  ['10.0.0.1', 'is an IP address'],
  ['0x7f.1', 'is an IP address'],
  ['[::1]', 'is not a host name'],
  ['localhost', 'is this machine'],
  ['a.localhost:80', 'is this machine'],
  ['example.com:0', 'has a port'],
  ['example.com:70000', 'has a port'],
])('the host %j is refused', (text, problem) => {
  expect(readHostRule(text)).toEqual({ problem: expect.stringContaining(problem) });
});

test('a host is reached by its name, below a wildcard, and at the usual ports or the one that is named', () => {
  const rules = ['a.example', '*.a.example', 'b.example:8443'].map((text) => readHostRule(text) as HostRule);
  const isReached = (host: string, port: number) => ruleFor(rules, host, port) !== undefined;
  expect(isReached('A.example.', 443)).toBe(true);
  expect(isReached('x.a.example', 80)).toBe(true);
  expect(isReached('b.example', 8443)).toBe(true);
  expect(isReached('a.example', 22)).toBe(false);
  expect(isReached('xa.example', 443)).toBe(false);
  expect(isReached('b.example', 443)).toBe(false);
  expect(isReached('a.example.evil.example', 443)).toBe(false);
  expect(isReached('127.0.0.1', 443)).toBe(false);
});
