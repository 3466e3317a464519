/**
 * Does the scripted task in pairs, once with the bare program or SDK and once with its adapter, and prints the use of each turn
 * as JSON. Arguments: kind, the most pairs, the seconds that they may take, base URL and key of a lane, and the protocol
 * that both speak with the program, if any.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createAgent, driveAgent, drivenAgents } from '@whetstone/agents';
import {
  type DrivenAgentKind,
  type ProtocolKind,
  permissionsOf,
  protocolAgentsOf,
} from '@whetstone/agents/config';
import { installAgent } from '@whetstone/agents/install';
import { createProcessSandboxProvider } from '@whetstone/sandbox';
import { KNOWN_MODELS, mayRunCommands } from '../../examples/real-agents/drive-agent.ts';
import { cacheFolder, programs } from '../../examples/real-agents/install.ts';
import { finalFiles, prompt } from '../../examples/real-agents/task.ts';
import { cpuSecondsOfChildren } from '../process-use.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { askOverProtocol } from './bare-acp-client.ts';
import { openBareServer } from './bare-app-server.ts';

export type TurnUse = { wallSeconds: number; cpuSeconds: number };
export type TurnPair = { bare: TurnUse; adapter: TurnUse };

const [kind, mostPairs, seconds, baseUrl = '', key = '', protocol] = process.argv.slice(2) as [
  DrivenAgentKind,
  string,
  string,
  string,
  string,
  ProtocolKind | undefined,
];
const cli = (protocol && protocolAgentsOf(protocol)?.[kind]) ?? drivenAgents[kind];
using folder = temporaryFolder();
const sandboxes = await createProcessSandboxProvider({ scratch: join(folder.path, 'sandboxes') });
const chosen = { model: KNOWN_MODELS[kind] };
const allowed = protocol ? { permissions: { shell: 'allow' as const } } : mayRunCommands(kind);
/** What the adapter holds the agent to. */
const permissions = permissionsOf(
  { enforces: cli.facts.enforces ?? {}, asks: cli.launch.dialogue !== undefined },
  allowed.permissions ?? {},
);
const agent = await createAgent(
  protocol ? { kind: protocol, agent: kind, ...chosen, ...allowed } : { kind, ...chosen, ...allowed },
  {
    environment: { ...process.env, XDG_CACHE_HOME: cacheFolder, PATH: `${programs}:${process.env.PATH}` },
    hasLanes: true,
  },
);

process.env.XDG_CACHE_HOME = cacheFolder;
const FEWEST_PAIRS = 3;
const measured: TurnPair[] = [];
// The first pair fills the caches.
await measurePair('first');
const end = performance.now() + Number(seconds) * 1000;
while (measured.length < Number(mostPairs) && (measured.length < FEWEST_PAIRS || performance.now() < end))
  measured.push(await measurePair(String(measured.length)));
console.log(JSON.stringify(measured));

async function measurePair(name: string): Promise<TurnPair> {
  const bare = await measure(() => bareTurn(workspaceOf(`bare-${name}`)));
  return { bare, adapter: await measure(() => adapterTurn(workspaceOf(`adapter-${name}`))) };
}

async function measure(turn: () => Promise<{ workspace: string }>): Promise<TurnUse> {
  const [began, before] = [performance.now(), cpuSeconds()];
  const { workspace } = await turn();
  const use = { wallSeconds: (performance.now() - began) / 1000, cpuSeconds: cpuSeconds() - before };
  for (const [name, content] of Object.entries(finalFiles)) {
    if (readFileSync(join(workspace, name), 'utf8') !== content) throw new Error(`${kind} did not do it.`);
  }
  return use;
}

function cpuSeconds(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1e6 + cpuSecondsOfChildren();
}

function workspaceOf(name: string): string {
  const workspace = join(folder.path, name, 'workspace');
  mkdirSync(workspace, { recursive: true });
  writeFileSync(join(workspace, 'README.md'), 'Greetings.\n');
  return workspace;
}

async function bareTurn(workspace: string): Promise<{ workspace: string }> {
  const home = join(workspace, '../home');
  await runBare(workspace, home);
  rmSync(home, { recursive: true });
  return { workspace };
}

async function runBare(workspace: string, home: string): Promise<void> {
  if (kind === 'codex-app-server') {
    const server = await openBareServer(home, { baseUrl, key });
    await server.turn(prompt, workspace);
    await server.close();
    return;
  }
  const {
    env,
    files,
    args: first = [],
  } = cli.launch.settings({
    access: { kind: 'key', baseUrl, key },
    ...chosen,
    home,
    workingDirectory: workspace,
    permissions,
  });
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(join(home, path, '..'), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const args = cli.launch.turn({
    access: 'key',
    ...chosen,
    workingDirectory: workspace,
    permissions,
  });
  const [program = '', ...words] =
    'module' in cli.release.entry
      ? [
          process.execPath,
          join(import.meta.dirname, 'bare-sdk-program.ts'),
          kind,
          await installAgent(cli),
          chosen.model,
        ]
      : [join(programs, cli.release.program), ...first, ...args];
  const child = spawn(program, words, {
    cwd: workspace,
    env: { PATH: `${programs}:${process.env.PATH}`, ...env },
    stdio: ['pipe', protocol ? 'pipe' : 'ignore', 'ignore'],
  });
  if (child.stdin && child.stdout)
    await askOverProtocol(child.stdin, child.stdout, { prompt, cwd: workspace });
  child.stdin?.end(protocol ? undefined : prompt);
  await once(child, 'close');
}

async function adapterTurn(workspace: string): Promise<{ workspace: string }> {
  await using sandbox = await sandboxes.start({ workdir: workspace, env: {} });
  const lane = { baseUrl, key, env: {} };
  const { status, exit } = await driveAgent(agent, { prompt, sandbox, lane, timeoutMs: 120_000 });
  if (status !== 'completed') throw new Error(`${kind} did not complete: ${exit?.message}`);
  return { workspace };
}
