import { readdir, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { EventKind, SessionEvent, SessionEventOf } from '@whetstone/loop';

/** What is known after a step's input was processed. */
export type Observation = {
  directory: string;
  /** The assistant's last text. */
  text: string;
  /** Of this step. */
  events: readonly SessionEvent[];
  /** Bodies of this step's model requests, in their order. */
  requests: readonly string[];
  commandTimeoutMs: number;
};

/** One step of the smoke test (loop spec 9.13). The steps are inputs of one session, in order. */
export type Step = {
  title: string;
  prompt: string;
  /** Runs before the prompt is sent. */
  prepare?: (directory: string) => Promise<void>;
  /** Sent as soon as the prompt has gone to the model. */
  steering?: string;
  /** Describes the failure; `undefined` when the step passed. */
  check: (seen: Observation) => string | undefined | Promise<string | undefined>;
};

const LARGE = 'x'.repeat(100_000);
const TRUNCATION_MARKER = '[WARNING: Tool output was truncated.';

export const steps: readonly Step[] = [
  {
    title: 'file creation',
    prompt: "Create a file called hello.py that prints 'Hello World'",
    check: async ({ directory }) => lacks(await readHello(directory), ['Hello']),
  },
  {
    title: 'read and edit',
    prompt: "Read hello.py and add a second print statement that says 'Goodbye'",
    check: async ({ directory }) => lacks(await readHello(directory), ['Hello', 'Goodbye']),
  },
  {
    title: 'shell execution',
    prompt: 'Run hello.py and show the output',
    check: ({ events }) => {
      const commands = ofKind(events, 'TOOL_CALL_START').filter(({ data }) => data.name === 'shell');
      if (commands.length === 0) return 'no shell call among the events';
      const ran = commands.some(({ data }) => JSON.stringify(data.input).includes('hello.py'));
      return ran ? undefined : 'no shell call names hello.py';
    },
  },
  {
    title: 'truncation',
    prompt: 'Read big.txt',
    prepare: (directory) => writeFile(join(directory, 'big.txt'), LARGE),
    check: ({ events, requests }) => {
      if (!ofKind(events, 'TOOL_CALL_END').some(({ data }) => data.output.includes(LARGE)))
        return 'no TOOL_CALL_END event has the full 100,000 characters';
      if (requests.some((body) => body.includes(LARGE))) return 'the model was sent the full output';
      const markers = (body = '') => body.split(TRUNCATION_MARKER).length - 1;
      return markers(requests.at(-1)) > markers(requests[0])
        ? undefined
        : 'no result that the model was sent has the truncation marker';
    },
  },
  {
    title: 'steering',
    prompt: 'Create a Flask web application with multiple routes',
    steering: 'Actually, just create a single /health endpoint for now',
    check: async ({ directory, events }) => {
      if (ofKind(events, 'STEERING_INJECTED').length === 0) return 'the steering message was not injected';
      const routes = await routesIn(directory);
      if (routes.join() === '/health') return undefined;
      return `the routes are ${routes.join(', ') || 'none'}; only /health was asked for`;
    },
  },
  {
    title: 'subagent',
    prompt: 'Spawn a subagent to write tests for hello.py, then review its output',
    check: ({ events }) => {
      const calls = ofKind(events, 'TOOL_CALL_START');
      if (!calls.some(({ data, subagent }) => data.name === 'spawn_agent' && !subagent))
        return 'no spawn_agent call among the events';
      if (!calls.some(({ subagent }) => subagent)) return 'no tool call of a subagent among the events';
      const [end] = ofKind(events, 'SUBAGENT_END');
      if (!end) return 'the session went on without the end of its subagent';
      return end.data.success ? undefined : `the subagent ended as ${end.data.status}: ${end.data.output}`;
    },
  },
  {
    title: 'timeout',
    prompt: "Run 'sleep 30' with the default timeout",
    check: ({ events, text, commandTimeoutMs }) => {
      const timedOut = ofKind(events, 'TOOL_CALL_END').filter(({ data }) => data.details?.timedOut === true);
      if (timedOut.length === 0) return 'no command ran into its timeout';
      if (!timedOut.some(({ data }) => data.output.includes(`timed out after ${commandTimeoutMs}ms`)))
        return `no command ran into the default timeout of ${commandTimeoutMs} ms`;
      return text === '' ? 'the model said nothing about it' : undefined;
    },
  },
];

function ofKind<Kind extends EventKind>(events: readonly SessionEvent[], kind: Kind) {
  return events.filter((event): event is SessionEventOf<Kind> => event.kind === kind);
}

async function readHello(directory: string): Promise<string | undefined> {
  return await readFile(join(directory, 'hello.py'), 'utf8').catch(() => undefined);
}

function lacks(content: string | undefined, words: readonly string[]): string | undefined {
  if (content === undefined) return 'hello.py does not exist';
  const missing = words.filter((word) => !content.includes(word));
  return missing.length === 0 ? undefined : `hello.py does not contain ${missing.join(' and ')}`;
}

const INSTALLED = /(?:^|[\\/])(?:\.?venv|env|site-packages|node_modules)[\\/]/;
const ROUTE = /@\w+\.(?:route|get|post|put|patch|delete)\(\s*f?["']([^"']+)|add_url_rule\(\s*["']([^"']+)/g;

/** The routes that Python files declare, each once. */
async function routesIn(directory: string): Promise<string[]> {
  const files = (await readdir(directory, { recursive: true })).filter(
    (file) => file.endsWith('.py') && !INSTALLED.test(file),
  );
  const sources = await Promise.all(files.map((file) => readFile(join(directory, file), 'utf8')));
  const routes = [...sources.join('\n').matchAll(ROUTE)].map(([, decorated, added]) => decorated ?? added);
  return [...new Set(routes.filter((route) => route !== undefined))].sort();
}
