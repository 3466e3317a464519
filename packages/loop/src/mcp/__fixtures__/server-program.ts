/**
 * An MCP server on standard streams that does what its first argument says: `serve`, or one of the ways in which a server
 * goes wrong. Beside it runs a child that would outlive it.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { createInterface } from 'node:readline';

type Message = { id?: number; method: string; params?: { cursor?: string; name?: string; arguments?: { text?: string } } };

const [mode = 'serve'] = process.argv.slice(2);
spawn('sleep', ['600'], { stdio: 'ignore' });

const text = { type: 'object', properties: { text: { type: 'string' } } };
const tool = (name: string, more: object = {}) => ({ name, inputSchema: text, ...more });
const pages = [
  [
    tool('echo', { description: 'Says it again.', inputSchema: { ...text, required: ['text'] } }),
    tool('fail'),
    tool('picture'),
    tool('numbers', { outputSchema: { type: 'object', properties: { n: { type: 'string' } }, required: ['n'] } }),
    tool('unstructured', { outputSchema: { type: 'object', properties: { n: { type: 'string' } } } }),
    tool('refuse'),
    tool('wait'),
    tool('crash'),
  ],
  [
    tool('a b'),
    tool('a/b'),
    tool('x'.repeat(100)),
    tool('bad', { inputSchema: { type: 'object', properties: { a: { type: 'nonsense' } } } }),
    { name: 'shapeless' },
    'echo',
    // Checked as it stands, its arguments would be checked later, in nobody's hands.
    tool('async', { inputSchema: { ...text, $async: true, $id: 'one', required: ['text'] } }),
  ],
];

const put = (value: object): void => void process.stdout.write(`${JSON.stringify({ jsonrpc: '2.0', ...value })}\n`);

if (mode === 'garbage') {
  process.stdout.write('usage: none\n{"jsonrpc":"2.0"}\n[]\n');
  process.stderr.write('no license found\n  ask for one\n');
  process.exit(7);
}
if (mode === 'flood') {
  const chunk = 'x'.repeat(1024 * 1024);
  while (process.stdout.writable) await new Promise((done) => process.stdout.write(chunk, done));
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line) as Message;
  if (mode === 'silent') continue;
  if (method === 'notifications/cancelled') writeFileSync('cancelled', line);
  if (id === undefined) continue;
  if (params?.name === 'refuse') {
    put({ id, error: { code: -32000, message: 'no\0 entry' } });
    continue;
  }
  const result = answer(method, params ?? {});
  if (result) put({ id, result });
}

function answer(method: string, params: NonNullable<Message['params']>): object | undefined {
  switch (method) {
    case 'initialize':
      // A line that is no message, as of a server that logs to the wrong stream.
      process.stdout.write('starting\n');
      return {
        protocolVersion: '2025-06-18',
        capabilities: mode === 'no tools' ? {} : { tools: { listChanged: true } },
        serverInfo: { name: 'fixture', version: '1' },
      };
    case 'tools/list':
      return { tools: pages[Number(params.cursor ?? 0)], ...(params.cursor ? {} : { nextCursor: '1' }) };
    case 'tools/call':
      return call(params.name ?? '', params.arguments?.text ?? '');
    default:
      return {};
  }
}

function call(name: string, said: string): object | undefined {
  const block = (value: string) => ({ type: 'text', text: value });
  switch (name) {
    case 'wait':
      writeFileSync('waiting', '');
      return undefined;
    case 'crash':
      process.stderr.write('out of cheese\n');
      return process.exit(3);
    case 'fail':
      return { content: [block('there is no such word')], isError: true };
    case 'picture':
      return {
        content: [
          block('A picture:'),
          { type: 'image', data: 'AAAA', mimeType: 'image/png' },
          { type: 'resource', resource: { uri: 'note://1', text: 'a note' } },
          { type: 'resource_link', uri: 'file:///x', name: 'x' },
        ],
      };
    case 'numbers':
      return { content: [], structuredContent: { n: 1 } };
    default:
      return { content: [block(`${name}: ${said} ${process.env.EDITION}`)] };
  }
}
