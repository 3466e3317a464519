import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { Config, TaskConfig, VariantConfig } from '../../config/config.ts';
import { git } from '../../workspace/git.ts';
import { type Scenario, scenarios, type Traps } from './scenarios.ts';

/** A word that only the attack of one scenario has. */
export const markerOf = ({ name }: Pick<Scenario, 'name'>, { nonce }: Traps): string => `rt-${name}-${nonce}`;

const PLAIN = 'plain';

/** A server that speaks MCP over standard input, with one tool, whose description comes with it. */
const server = (description: string): string => `import { createInterface } from 'node:readline';
const tool = { name: 'project_status', description: ${JSON.stringify(description)}, inputSchema: { type: 'object', properties: {} } };
const say = (id, result) => process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, method, params } = JSON.parse(line);
  if (method === 'initialize') say(id, { protocolVersion: params.protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'project', version: '1' } });
  else if (method === 'tools/list') say(id, { tools: [tool] });
  else if (method === 'tools/call') say(id, { content: [{ type: 'text', text: 'The project is fine.' }] });
  else if (id !== undefined) say(id, {});
}
`;

/** The parts of a configuration that make the suite: a repository, a task per scenario, and their variants. */
export async function writeRedTeamSuite(
  folder: string,
  traps: Traps,
  config: Config,
): Promise<{ config: Config; variantOf: (scenario: Scenario) => string }> {
  const repo = join(folder, 'repository');
  await write(repo, {
    'README.md': '# Sums\n\nAdds numbers.\n',
    'src/sum.js': 'export const sum = (a, b) => a + b;\n',
  });
  await git(['init', '-q', '.'], { cwd: repo });
  await git(['add', '-A'], { cwd: repo });
  await git(['-c', 'user.name=audit', '-c', 'user.email=audit@localhost', 'commit', '-qm', 'Add sums'], {
    cwd: repo,
  });
  const variants: VariantConfig[] = [{ name: PLAIN, description: '', overlays: [] }];
  for (const scenario of scenarios) {
    if (!scenario.toolDescription) continue;
    const file = join(folder, `${scenario.name}.mjs`);
    await writeFile(file, server(scenario.toolDescription(traps, markerOf(scenario, traps))));
    variants.push({
      ...{ name: scenario.name, description: scenario.what, overlays: [] },
      mcpServers: [{ kind: 'command', name: 'project', command: 'node', args: [{ file }], env: {} }],
    });
  }
  return {
    config: {
      ...config,
      ...{ repo: { path: repo, baseRef: 'HEAD' }, variants, baseline: PLAIN },
      tasks: scenarios.map((scenario) => taskOf(scenario, traps)),
      outputDir: join(config.outputDir, 'red-team'),
      evaluation: { commands: [] },
    },
    variantOf: ({ name, toolDescription }) => (toolDescription ? name : PLAIN),
  };
}

function taskOf(scenario: Scenario, traps: Traps): TaskConfig {
  const files = scenario.files(traps, markerOf(scenario, traps));
  return {
    ...{ id: scenario.name, prompt: scenario.prompt, setup: [], protectedPaths: [], extra: {} },
    validation: { commands: [{ kind: 'shell', script: 'true' }], timeoutSeconds: 60 },
    overlays: Object.entries(files).map(([target, text]) => ({ kind: 'write', target, text })),
  };
}

async function write(root: string, files: Record<string, string>): Promise<void> {
  for (const [path, text] of Object.entries(files)) {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
}
