import { readFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { drivenAgentKinds } from '@whetstone/agents/config';
import type { StreamEvent } from '@whetstone/events';
import { afterAll, beforeAll, expect, test } from 'vitest';
import {
  makeProject,
  type Project,
  readLines,
} from '../../packages/whetstone/src/cli/__fixtures__/project.ts';
import { KNOWN_MODELS, mayRunCommands, quickStart } from './drive-agent.ts';
import { cacheFolder, programs } from './install.ts';

/** A word of the model's first turn that is in no prompt and no file, so only a resumed session has it. */
const SCRIPT = `
export default {
  name: 'follow-ups',
  play({ step, userText, text }) {
    if (userText.includes('Make up a word')) return { text: 'It is zebra-crossing-7.' };
    if (!text.includes('zebra-crossing-7')) return { text: 'I know of no word.' };
    const file = userText.includes('Write it down again') ? 'again.txt' : 'word.txt';
    if (step > 0) return { text: 'It is written.' };
    return { calls: [{ tool: 'shell', command: \`echo zebra-crossing-7 > \${file}\` }] };
  },
};
`;

const codex =
  `codex exec --json -C {workspace} --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox
  --model gpt-5.5 --disable plugins -c analytics.enabled=false
  -c model_provider=gateway -c model_providers.gateway.name=gateway
  -c model_providers.gateway.base_url={gateway_url}/v1 -c model_providers.gateway.wire_api=responses
  -c model_providers.gateway.env_key=WHETSTONE_GATEWAY_KEY`.replaceAll('\n', ' ');
const claude = 'claude -p --output-format stream-json --verbose --dangerously-skip-permissions';

/** The same agents as command templates. */
const commands = {
  'codex-command': {
    kind: 'codex-cli',
    command: `${codex} - < {prompt_file}`,
    resume_command: `${codex} resume {session_id} - < {prompt_file}`,
    telemetry: { collector: 'codex-jsonl' },
  },
  'claude-command': {
    kind: 'claude-code',
    command: `${claude} --session-id {session_id} < {prompt_file}`,
    resume_command: `${claude} --resume {session_id} < {prompt_file}`,
    env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1', DISABLE_AUTOUPDATER: '1' },
  },
};
const agents: Record<string, object> = {
  ...Object.fromEntries(
    drivenAgentKinds.map((kind) => [
      kind,
      { kind, model: KNOWN_MODELS[kind], env: quickStart, ...mayRunCommands(kind) },
    ]),
  ),
  ...commands,
  loop: { kind: 'loop', profile: 'openai' },
};

let project: Project;
beforeAll(async () => {
  project = makeProject({
    tasks: [
      {
        id: 'word',
        timeout_seconds: 60,
        prompt: 'Make up a word.',
        follow_ups: ['Write it to word.txt.', 'Write it down again.'],
        validation: { commands: ['grep zebra word.txt', 'grep zebra again.txt'] },
      },
    ],
    config: {
      agents,
      gateway: { mode: 'script', script: 'script.mjs' },
    },
  });
  project.write({ 'script.mjs': SCRIPT });
  const { stderr } = await project.whetstone(['run', '--jobs', '2'], {
    XDG_CACHE_HOME: cacheFolder,
    PATH: `${programs}${delimiter}${process.env.PATH}`,
  });
  expect(project.runDirectories(), stderr).toHaveLength(1);
});
afterAll(() => project[Symbol.dispose]());

test.each(Object.keys(agents))('%s goes on with its session in a run', (name) => {
  const { directory, rows } = project.latest();
  const row = rows.find((candidate) => candidate.agent_name === name);
  expect(row).toMatchObject({ outcome: 'passed', evidence: null, turns: 3, turns_planned: 3 });
  const folder = join(directory, 'cases', row?.case_id ?? '');
  const events = readLines<StreamEvent>(join(folder, 'events.jsonl'));
  const said = events.flatMap((event) =>
    event.type === 'message' && event.role === 'assistant' ? [`${event.turn}: ${event.text}`] : [],
  );
  expect(said).toEqual(['0: It is zebra-crossing-7.', '1: It is written.', '2: It is written.']);
  // One session, no call is reported twice, and the tokens are those of the wire.
  const sessions = events.flatMap((event) =>
    event.type === 'session.started' ? (event.sessionId ?? []) : [],
  );
  expect(new Set(sessions).size).toBeLessThanOrEqual(1);
  const calls = events.filter(({ type }) => type === 'action.called');
  expect(calls.map(({ turn }) => turn)).toEqual([1, 2]);
  expect(row?.telemetry_gaps).not.toContain('usage_mismatch');
  expect(JSON.parse(readFileSync(join(folder, 'agent.json'), 'utf8')).commands).toHaveLength(2);
});
