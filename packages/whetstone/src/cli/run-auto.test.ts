import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, expect, test } from 'vitest';
import { hasBubblewrap } from '../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import { makeProject, type Project } from './__fixtures__/project.ts';

let project: Project;
afterEach(() => project?.[Symbol.dispose]());

const GATEWAY = { gateway: { mode: 'script', script: 'script.yaml' } };
const NAMES = { command: ['sh', '-c', 'id -u; echo {gateway_url} > address'] };

test.runIf(hasBubblewrap)(
  'by default a run takes the strongest sandbox, and a resumed run keeps the one that it has',
  { tags: 'bubblewrap' },
  async () => {
    project = makeProject({
      tasks: [{ id: 'one', prompt: 'x', validation: { commands: ['getent hosts registry.example'] } }],
      agents: { mine: { keys: NAMES, script: '' } },
      config: { ...GATEWAY, sandbox: 'process' },
    });
    project.write({ 'script.yaml': 'name: none\ndefault: [{ text: ok }]\n' });
    await project.whetstone(['run']);
    expect(project.latest().rows[0]?.names_asked).toBeUndefined();
    expect(project.latest().manifest.isolation).toMatchObject({ provider: 'process', level: 0 });
    expect(project.latest().manifest.isolation.auto).toBeUndefined();

    project.writeConfig({ ...GATEWAY, sandbox: undefined });
    const shown = await project.whetstone(['run', '--resume', 'latest', '--dry-run']);
    expect(shown).toMatchObject({
      exitCode: 0,
      stdout: expect.stringMatching(/^Sandbox {5}process, level 0$/m),
    });
    const chosen =
      /bubblewrap, level 1 \(auto\): \d+ attacks from inside were tried, and none came through$/m;
    expect((await project.whetstone(['validate-config'])).stdout).toMatch(chosen);
    const json = await project.whetstone(['run', '--dry-run', '--json']);
    expect(JSON.parse(json.stdout).sandbox).toMatchObject({
      ...{ provider: 'bubblewrap', level: 1, auto: { reasons: [] } },
    });
    const ran = await project.whetstone(['run', '--jobs', '2']);
    expect(ran).toMatchObject({ exitCode: 1, stderr: expect.stringMatching(chosen) });
    expect(project.latest().rows).toMatchObject([
      {
        names_asked: [],
        evidence: expect.stringMatching(
          /^`getent hosts registry\.example` exited 2 .*\(in the clean room, something asked for registry\.example, which this sandbox does not reach\)$/s,
        ),
      },
    ]);
    expect(project.latest().manifest.isolation).toMatchObject({
      ...{ provider: 'bubblewrap', level: 1, auto: { reasons: [] } },
      probes: expect.arrayContaining([{ attack: 'harness', reached: false }]),
    });
  },
);

test('work that a sealed sandbox would break runs in the other one, and the report says what an agent could have done', async () => {
  project = makeProject({ tasks: [{ id: 'one', prompt: 'x' }], config: { sandbox: undefined } });
  const ran = await project.whetstone(['run']);
  const why = 'The agent writer does not use a gateway, so it needs the network to reach its model.';
  expect(ran.stderr).toContain(`Sandbox process, level 0 (auto). Not sealed: ${why} (and 1 more reason)\n`);
  const { manifest, directory } = project.latest();
  expect(manifest.isolation.auto?.reasons).toEqual([
    why,
    `${join(project.root, 'agents/writer.sh')} is named in a command, and only \`sandbox.readable\` would make it visible.`,
  ]);
  expect(manifest.isolation.reachable).toContain('read files of your home folder');
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain(
    '- An agent could read files of your home folder.\n',
  );
});
