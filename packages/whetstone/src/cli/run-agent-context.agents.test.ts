import { delimiter } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { programs } from '../../../../examples/real-agents/install.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project[Symbol.dispose]());

const provider = {
  name: 'lane',
  base_url: '{gateway_url}/v1',
  wire_api: 'responses',
  env_key: 'WHETSTONE_GATEWAY_KEY',
};
const codexSettings = ['model_provider=lane', 'features.plugins=false'].concat(
  Object.entries(provider).map(([key, value]) => `model_providers.lane.${key}=${value}`),
);

test('a command of a known kind gets instructions and skills where that kind looks', async () => {
  project = makeProject({
    tasks: [{ id: 'one', prompt: 'Say hello.' }],
    config: {
      agents: {
        codex: {
          kind: 'codex-cli',
          command: `codex exec --json --skip-git-repo-check --dangerously-bypass-approvals-and-sandbox -m gpt-5.5 ${codexSettings
            .map((setting) => `-c ${setting}`)
            .join(' ')} - < {prompt_file}`,
        },
        claude: {
          kind: 'claude-code',
          command:
            'claude -p {prompt} --output-format stream-json --verbose --dangerously-skip-permissions --model claude-sonnet-4-5',
          env: { IS_SANDBOX: '1', CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
        },
      },
      variants: { with: { instructions: 'Warm every cup.\nThen pour.\n', skills: ['skills/brew-tea'] } },
      gateway: { mode: 'script', script: 'script.yaml' },
    },
  });
  project.write({
    'skills/brew-tea/SKILL.md': '---\nname: brew-tea\ndescription: How tea is brewed.\n---\nBoil water.\n',
    'script.yaml': 'name: hello\ndefault:\n  - text: Hello.\n',
  });
  const { stderr } = await project.whetstone(['run'], {
    PATH: [programs, process.env.PATH].join(delimiter),
  });
  expect(stderr).not.toContain('error');
  const seen = project.latest().rows.map(({ agent_name: agent, outcome, exposure }) => ({
    agent,
    outcome,
    instructions: exposure?.instructions?.in_requests,
    listed: exposure?.skills[0]?.listed,
  }));
  expect(seen).toEqual(
    ['codex', 'claude'].map((agent) => ({ agent, outcome: 'passed', instructions: 'whole', listed: true })),
  );
});
