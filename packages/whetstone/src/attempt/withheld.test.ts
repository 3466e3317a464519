import type { LedgerLine } from '@whetstone/gateway';
import { createMask } from '@whetstone/sandbox';
import { expect, test } from 'vitest';
import { withheldByGateway } from './withheld.ts';

const line = { method: 'POST', path: '/v1/responses', flags: [], stripped_tools: [] } as Partial<LedgerLine>;
const of = (...calls: Partial<LedgerLine>[]) =>
  withheldByGateway(
    calls.map((call) => ({ ...line, ...call }) as LedgerLine),
    createMask(['secret-of-a-path']),
  );

test('a row names the tools that the gateway removed and the endpoints that it refused, each once', () => {
  expect(of({})).toEqual({});
  const refused: Partial<LedgerLine> = { path: '/v1/files', flags: ['auxiliary', 'endpoint-refused'] };
  expect(
    of({ stripped_tools: ['web_search'] }, { stripped_tools: ['web_search', 'mcp'] }, refused, refused, {
      ...refused,
      method: 'GET',
      path: '/secret-of-a-path',
    }),
  ).toEqual({
    stripped_tools: ['web_search', 'mcp'],
    refused_endpoints: ['POST /v1/files', 'GET /[masked]'],
  });
  const many = Array.from({ length: 30 }, (_, index) => ({ ...refused, path: `/${index}` }));
  expect(of(...many).refused_endpoints).toHaveLength(20);
});
