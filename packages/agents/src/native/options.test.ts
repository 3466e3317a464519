import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { expect, test, vi } from 'vitest';
import { scriptedServer, turnWith } from './codex-app-server/__fixtures__/scripted-server.ts';
import { leadTurn } from './codex-app-server/lead-turn.ts';
import type { DrivenAgentKind } from './native-agents.ts';
import { drivenAgents } from './native-agents.ts';

const REPOSITORY = join(import.meta.dirname, '../../../..');
const ATTACHED = { server_url: 'http://127.0.0.1:4096' };
const trace = { endpoint: 'http://127.0.0.1:4318/v1/traces' };
const helper = { description: 'Helps.', prompt: 'Help.' };

/** What an agent is given: an option, what of it is in the variables, the arguments or what it is sent, and options beside it. */
type Row = readonly [option: string, value: unknown, given: string | null, beside?: JsonObject];

/** `null`: the option counts in what happens later. */
const OPTIONS: Readonly<Record<string, readonly Row[]>> = {
  'codex-sdk': [
    ['reasoning_effort', 'high', '"modelReasoningEffort":"high"'],
    ['web_search', 'cached', '"webSearchMode":"cached"'],
    ['additional_directories', ['/other'], '"additionalDirectories":["/other"]'],
    ['resume', 'thread-9', '"resume":"thread-9"'],
    ['codex_path', '/opt/codex', '"codexPathOverride":"/opt/codex"'],
    ['trace', trace, '"endpoint":"http://127.0.0.1:4318/v1/traces"'],
    ['reuse_process', true, '"stays":true'],
  ],
  'codex-app-server': [
    [
      'collaboration_mode',
      'plan',
      '"collaborationMode":{"mode":"plan","settings":{"model":"gpt-5.5","reasoning_effort":null,"developer_instructions":null}}',
    ],
    ['effort', 'high', '"effort":"high"'],
    ['summary', 'concise', '"summary":"concise"'],
    ['service_tier', 'fast', '"serviceTier":"fast"'],
    ['base_instructions', 'Be.', '"baseInstructions":"Be."'],
    ['developer_instructions', 'Do.', '"developerInstructions":"Do."'],
    ['ephemeral', true, '"ephemeral":true'],
    ['resume', 'thread-9', '"method":"thread/resume","params":{"threadId":"thread-9"'],
    ['fork', 'thread-9', '"method":"thread/fork","params":{"threadId":"thread-9"'],
    ['cleanup', 'archive', '"method":"thread/archive"'],
    ['review', { branch: 'main' }, '"target":{"type":"baseBranch","branch":"main"}'],
    ['steer', [{ after_calls: 1, text: 'Be brief.' }], null],
    ['discover', ['models'], '"method":"model/list"'],
    ['reuse_server', true, null],
    ['trace', trace, 'http://127.0.0.1:4318/v1/traces'],
    ['startup_timeout_seconds', 5, null],
    ['request_timeout_seconds', 5, null],
  ],
  'claude-agent-sdk': [
    ['max_turns', 3, '"maxTurns":3'],
    ['max_budget_usd', 0.5, '"maxBudgetUsd":0.5'],
    ['task_budget_tokens', 9000, '"taskBudget":{"total":9000}'],
    ['effort', 'high', '"effort":"high"'],
    ['thinking', 'adaptive', '"thinking":{"type":"adaptive"}'],
    ['thinking', { budget_tokens: 2048 }, '"thinking":{"type":"enabled","budgetTokens":2048}'],
    ['betas', ['context-1m-2025-08-07'], '"betas":["context-1m-2025-08-07"]'],
    ['fallback_model', 'claude-haiku', '"fallbackModel":"claude-haiku"'],
    ['system_prompt', 'Be brief.', '"systemPrompt":"Be brief."'],
    [
      'system_prompt',
      { preset: 'claude_code', append: 'Be brief.', exclude_dynamic_sections: true },
      '"systemPrompt":{"type":"preset","preset":"claude_code","append":"Be brief.","excludeDynamicSections":true}',
    ],
    ['tools', ['Read'], '"tools":["Read"]'],
    ['disallowed_tools', ['Bash'], '"disallowedTools":["Bash",'],
    [
      'setting_sources',
      ['project'],
      '"settingSources":["user","project"],"settings":{"disableAllHooks":true}',
    ],
    ['agents', { helper }, '"agents":{"helper":{"description":"Helps.","prompt":"Help."}}'],
    ['agent', 'helper', '"agent":"helper"'],
    ['additional_directories', ['/other'], '"additionalDirectories":["/other"]'],
    ['permission_mode', 'plan', '"permissionMode":"plan"'],
    ['plan_mode_instructions', 'Plan it.', '"planModeInstructions":"Plan it."'],
    ['claude_path', '/opt/claude', '"pathToClaudeCodeExecutable":"/opt/claude"'],
    ['resume', 'session-9', '"resume":"session-9"'],
    ['fork_session', true, '"forkSession":true', { resume: 'session-9' }],
    ['continue', true, '"continue":true'],
    ['include_partial_messages', true, '"includePartialMessages":true'],
    ['reuse_process', true, '"stays":true'],
  ],
  'opencode-sdk': [
    ['agent', 'plan', '"agent":"plan"'],
    [
      'agents',
      { helper: { ...helper, mode: 'subagent', temperature: 0, top_p: 1, steps: 3, deny: ['bash'] } },
      '"helper":{"description":"Helps.","prompt":"Help.","mode":"subagent","temperature":0,"top_p":1,"steps":3,"permission":{"bash":"deny"}}',
    ],
    // What OpenCode denies an agent of its own stays denied.
    [
      'agents',
      { plan: helper },
      '"plan":{"description":"Helps.","prompt":"Help.","permission":{"edit":"deny"}}',
    ],
    ['variant', 'high', '"variant":"high"'],
    ['system', 'Be brief.', '"system":"Be brief."'],
    ['resume', 'ses_9', '"resume":"ses_9"'],
    ['fork_session', true, '"forks":true', { resume: 'ses_9' }],
    ['server_url', 'http://127.0.0.1:4096', '"url":"http://127.0.0.1:4096"'],
    ['server_timeout_seconds', 5, '"timeoutSeconds":5', ATTACHED],
    ['keep_session', true, '"keeps":true', ATTACHED],
    ['reuse_process', true, '"stays":true'],
  ],
};

/** The tests that show what becomes of options that are `null` above. */
const ELSEWHERE: Readonly<Record<string, string>> = {
  steer: 'examples/real-agents/codex-app-server.agents.test.ts',
  reuse_server: 'packages/agents/src/native/codex-app-server/lead-turn.test.ts',
  startup_timeout_seconds: 'packages/agents/src/native/codex-app-server/lead-turn.test.ts',
  request_timeout_seconds: 'packages/agents/src/native/codex-app-server/lead-turn.test.ts',
};

const rows = Object.entries(OPTIONS).flatMap(([kind, options]) =>
  options.map(([option, value, given, beside]) => ({
    ...{ kind: kind as DrivenAgentKind, option, given },
    options: { ...beside, [option]: value } as JsonObject,
  })),
);

test.concurrent.each(rows)('$kind is given $options', async ({ kind, option, options, given }) => {
  const { options: schema, launch } = drivenAgents[kind];
  expect(schema?.strict().safeParse(options).error?.issues).toBeUndefined();
  if (given === null) {
    const file = join(REPOSITORY, ELSEWHERE[option] ?? 'nowhere');
    expect(readFileSync(file, 'utf8')).toContain(option);
    return;
  }
  const server = scriptedServer();
  const { turn } = turnWith({ options });
  const { permissions } = turn;
  const connection = { ...turn.connection, model: 'gpt-5.5', permissions, options };
  const { env, args } = launch.settings(connection);
  const leading = launch.dialogue?.(server.peer, { ...turn, connection });
  const all = () => [...Object.values(env), JSON.stringify([args, server.heard])].join('\n');
  await vi.waitFor(() => expect(all()).toContain(given), { timeout: 20_000 });
  server.end();
  await leading;
});

test.concurrent.each(Object.keys(OPTIONS))(
  'every option of %s is tried here, and its page has it',
  (kind) => {
    const names = Object.keys(drivenAgents[kind as DrivenAgentKind].options?.shape ?? {});
    expect([...new Set(OPTIONS[kind]?.map(([option]) => option))].sort()).toEqual([...names].sort());
    const page = readFileSync(join(REPOSITORY, `docs/agents/${kind}.md`), 'utf8');
    const [, table = ''] = page.split('\n## Options\n');
    for (const name of names) expect(table.split('\n## ')[0], kind).toContain(`\`${name}\``);
  },
);

test.concurrent('every kind with options is tried here', () => {
  const withOptions = Object.values(drivenAgents).filter(({ options }) => options !== undefined);
  expect(withOptions.map(({ kind }) => kind).sort()).toEqual(Object.keys(OPTIONS).sort());
});

test.concurrent('a turn of Codex whose model has no such service tier is not begun', async () => {
  const server = scriptedServer({
    'thread/start': () => ({ thread: { id: 'thread-1' }, model: 'gpt-5.5', serviceTier: null }),
  });
  const { turn, logged } = turnWith({ options: { service_tier: 'fast' } });
  await leadTurn(server.peer, turn);
  expect(logged).toEqual(['codex app-server: The model gpt-5.5 has no service tier fast.']);
  expect(server.methods()).not.toContain('turn/start');
});
