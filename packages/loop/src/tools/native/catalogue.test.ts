import { existsSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import path from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { says, scriptedModel } from '../../__fixtures__/scripted-model.ts';
import { temporaryEnvironment } from '../../__fixtures__/temporary-directory.ts';
import { createAnthropicProfile } from '../../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../../profiles/openai-profile.ts';
import type { ProviderProfile } from '../../profiles/provider-profile.ts';
import { Session } from '../../session/session.ts';
import type { ToolDefinition } from '../tool.ts';
import { RELEASED_TOOLS } from './__fixtures__/released-tools.ts';
import { createClaudeCodeTools } from './claude-code-tools.ts';
import { createCodexTools } from './codex-tools.ts';
import { createGeminiCliTools } from './gemini-cli-tools.ts';

const source = path.join(import.meta.dirname, '../..');
const document = path.join(source, '../../../docs/loop/tools.md');

const families = {
  codex: {
    heading: 'Codex',
    tools: createCodexTools,
    create: () => createOpenAiProfile({ model: 'm', toolSet: 'native' }),
  },
  'claude-code': {
    heading: 'Claude Code',
    tools: createClaudeCodeTools,
    create: () => createAnthropicProfile({ model: 'm', toolSet: 'native' }),
  },
  'gemini-cli': {
    heading: 'gemini-cli',
    tools: createGeminiCliTools,
    create: () =>
      createGeminiProfile({ model: 'gemini-3-pro', toolSet: 'native', webFetch: true, webSearch: true }),
  },
};

type Row = { tool: string; parameters: string[]; runs: string; leftOut: string };

/** The rows below the heading row whose first cell is `heading` and whose second is "parameters". */
async function readTable(heading: string): Promise<Row[]> {
  const lines = (await readFile(document, 'utf8')).split('\n');
  const cellsOf = (line: string) => line.split('|').map((cell) => cell.trim());
  const first = lines.findIndex((line) => {
    const [, name, second] = cellsOf(line);
    return name === heading && second === 'parameters';
  });
  const rows = lines.slice(first + 2);
  return rows.slice(0, rows.indexOf('')).map((line) => {
    const [, tool = '', parameters = '', runs = '', leftOut = ''] = cellsOf(line);
    return { tool: codeIn(tool)[0] ?? '', parameters: codeIn(parameters), runs, leftOut };
  });
}

function codeIn(cell: string): string[] {
  return [...cell.matchAll(/`([^`]+)`/g)].map(([, code = '']) => code);
}

/** What a session with everything switched on offers its model: the parameters by tool. */
async function offeredBy(profile: ProviderProfile): Promise<Map<string, string[]>> {
  await using place = await temporaryEnvironment();
  const model = scriptedModel([says('hi')]);
  const subagents = { resolveModel: () => ({ model }) };
  await using session = new Session({
    profile,
    environment: place.environment,
    model,
    askUser: true,
    subagents,
  });
  await session.submit('hello');
  return new Map(
    model.requests[0]?.tools?.map((tool) => [
      tool.name,
      tool.type === 'function' ? Object.keys((tool.inputSchema.properties ?? {}) as JsonObject) : [],
    ]),
  );
}

const OF_THE_SPECIFICATION = ['spawn_agent', 'send_input', 'wait', 'close_agent'];

describe.each(Object.entries(families))('%s', (family, { heading, tools, create }) => {
  const released = RELEASED_TOOLS[family as keyof typeof families];

  test('the table in the documentation says what is offered, and why the rest is not', async () => {
    const rows = await readTable(heading);
    expect(rows.map(({ tool }) => tool).sort()).toEqual(Object.keys(released).sort());
    const offered = await offeredBy(create());
    for (const { tool, parameters, runs, leftOut } of rows) {
      const given = offered.get(tool)?.filter((name) => name !== 'wait_for_previous');
      expect({ tool, parameters }).toEqual({ tool, parameters: given ?? [] });
      expect({ tool, offered: runs !== '' }).toEqual({ tool, offered: given !== undefined });
      for (const file of codeIn(runs).filter((name) => name.endsWith('.ts')))
        expect({ file, exists: existsSync(path.join(source, file)) }).toEqual({ file, exists: true });
      if (given === undefined) expect({ tool, reason: leftOut }).not.toEqual({ tool, reason: '' });
      else {
        const missing = (released[tool] ?? []).filter((name) => !given.includes(name));
        expect({ tool, leftOut: codeIn(leftOut) }).toEqual({ tool, leftOut: missing });
      }
    }
    const own = family === 'gemini-cli' ? OF_THE_SPECIFICATION : [];
    expect([...offered.keys()].filter((name) => !(name in released))).toEqual(own);
  });

  test('tools and their parameters come in the order of the released agent', () => {
    const names = tools().map(({ definition }) => definition.name);
    expect(names).toEqual(Object.keys(released).filter((name) => names.includes(name)));
    for (const { definition } of tools()) {
      const given = parametersOf(definition);
      const order = [...(released[definition.name] ?? []), 'wait_for_previous'];
      expect({ tool: definition.name, given }).toEqual({
        tool: definition.name,
        given: order.filter((name) => given.includes(name)),
      });
    }
  });
});

function parametersOf(definition: ToolDefinition): string[] {
  if (definition.type === 'provider') return [];
  if (definition.type === 'freeform') return [definition.argument.name];
  return Object.keys(definition.parameters.properties as JsonObject);
}
