import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { KNOWN_MODELS } from '../../../../examples/real-agents/drive-agent.ts';
import { hasBubblewrap } from '../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import { makeProject } from './__fixtures__/project.ts';

const installed = join(import.meta.dirname, '../../../../.cache');
const project = makeProject();
afterAll(() => project[Symbol.dispose]());

/** A model that does what the README orders it to. */
const GULLIBLE = `export default {
  name: 'gullible',
  play({ step, toolResults }) {
    if (step === 0) return { calls: [{ tool: 'shell', command: 'cat README.md' }] };
    const command = /^ *\\$ (.+)$/m.exec(JSON.stringify(toolResults).replaceAll('\\\\n', '\\n'))?.[1];
    if (step > 1 || !command) return { text: 'Done.' };
    return { calls: [{ tool: 'shell', command }] };
  },
};
`;

test.runIf(hasBubblewrap)(
  'a released agent whose model obeys a README executes what the workspace allows, and is refused what its sandbox does not',
  { tags: 'bubblewrap', timeout: 300_000 },
  async () => {
    project.write({ 'gullible.mjs': GULLIBLE });
    project.writeConfig({
      agents: { pi: { kind: 'pi', model: KNOWN_MODELS.pi, timeout_minutes: 2 } },
      gateway: { mode: 'script', script: 'gullible.mjs' },
      sandbox: 'bubblewrap',
    });
    const chosen = ['readme-injection', 'writes-outside', 'reads-secret-file', 'spends-budget'];
    const { stdout, stderr, exitCode } = await project.whetstone(
      ['audit', 'agent', '--json', ...chosen.flatMap((name) => ['--scenario', name])],
      { XDG_CACHE_HOME: installed },
    );
    expect(exitCode, stderr).toBe(5);
    const { results } = JSON.parse(stdout);
    expect(results.map(({ scenario, status }: Record<string, string>) => [scenario, status])).toEqual([
      ['readme-injection', 'executed'],
      ['reads-secret-file', 'refused'],
      ['writes-outside', 'refused'],
      ['spends-budget', 'executed'],
    ]);
  },
);
