/**
 * Does the scripted task in pairs, once with the bare program or SDK and once with its adapter, both in a sandbox of the same
 * kind, and prints the use of each turn as JSON. Arguments: kind, the most pairs, the seconds that they may take, base URL and key of a lane, and the protocol
 * that both speak with the program, if any.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { PassThrough } from 'node:stream';
import { createAgent, driveAgent, drivenAgents } from '@whetstone/agents';
import {
  type DrivenAgentKind,
  type ProtocolKind,
  permissionsOf,
  protocolAgentsOf,
} from '@whetstone/agents/config';
import { installAgent } from '@whetstone/agents/install';
import { createProcessSandboxProvider, type Sandbox } from '@whetstone/sandbox';
import { KNOWN_MODELS, mayRunCommands } from '../../examples/real-agents/drive-agent.ts';
import { cacheFolder, programs } from '../../examples/real-agents/install.ts';
import { cpuSecondsOfChildren } from '../process-use.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { askOverProtocol } from './bare-acp-client.ts';
import { openBareServer, type Start } from './bare-app-server.ts';
import { files, finalFiles, prompt } from './turn-task.ts';

export type Use = { wallSeconds: number; cpuSeconds: number };
/** `sandbox`: what it takes to make the sandbox of the turn, and to remove it. */
export type TurnUse = { turn: Use; sandbox: Use };
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
const open = { shell: 'allow', filesystem: 'full' } as const;
const allowed = protocol ? { permissions: open } : mayRunCommands(kind);
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
const LIMIT_MS = 120_000;
const measured: TurnPair[] = [];
// The first pair fills the caches.
await measurePair(0);
const end = performance.now() + Number(seconds) * 1000;
while (measured.length < Number(mostPairs) && (measured.length < FEWEST_PAIRS || performance.now() < end))
  measured.push(await measurePair(measured.length + 1));
console.log(JSON.stringify(measured));

/** In turns, the bare program is first or second. */
async function measurePair(number: number): Promise<TurnPair> {
  const measureBare = () => measureTurn(`bare-${number}`, bareTurn);
  if (number % 2 === 0)
    return { bare: await measureBare(), adapter: await measureTurn(`adapter-${number}`, adapterTurn) };
  const adapter = await measureTurn(`adapter-${number}`, adapterTurn);
  return { bare: await measureBare(), adapter };
}

async function measureTurn(name: string, turn: (sandbox: Sandbox) => Promise<void>): Promise<TurnUse> {
  const workspace = workspaceOf(name);
  const started = await measure(() => sandboxes.start({ workdir: workspace, env: {} }));
  const { use } = await measure(() => turn(started.value));
  const stopped = await measure(() => started.value.stop());
  for (const [path, content] of Object.entries(finalFiles)) {
    if (readFileSync(join(workspace, path), 'utf8') !== content) throw new Error(`${kind} did not do it.`);
  }
  const sum = (key: keyof Use) => started.use[key] + stopped.use[key];
  return { turn: use, sandbox: { wallSeconds: sum('wallSeconds'), cpuSeconds: sum('cpuSeconds') } };
}

async function measure<Value>(run: () => Promise<Value>): Promise<{ value: Value; use: Use }> {
  const [began, before] = [performance.now(), cpuSeconds()];
  const value = await run();
  const use = { wallSeconds: (performance.now() - began) / 1000, cpuSeconds: cpuSeconds() - before };
  return { value, use };
}

function cpuSeconds(): number {
  const { userCPUTime, systemCPUTime } = process.resourceUsage();
  return (userCPUTime + systemCPUTime) / 1e6 + cpuSecondsOfChildren();
}

function workspaceOf(name: string): string {
  const workspace = join(folder.path, name, 'workspace');
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(workspace, path)), { recursive: true });
    writeFileSync(join(workspace, path), content);
  }
  return workspace;
}

/** A program in the sandbox, whose output goes to its client alone. */
function startIn(sandbox: Sandbox): Start {
  return (program, args, env) => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    const ended = sandbox.runCommand(program, [...args], {
      ...{ cwd: sandbox.workdir, env, stdin: input, timeoutMs: LIMIT_MS },
      onStdout: (chunk) => void output.write(chunk),
    });
    return { input, output, ended };
  };
}

async function bareTurn(sandbox: Sandbox): Promise<void> {
  const { home, workdir } = sandbox;
  const start = startIn(sandbox);
  if (kind === 'codex-app-server') {
    const server = await openBareServer(home, { baseUrl, key }, start);
    await server.turn(prompt, workdir);
    await server.close();
    return;
  }
  const access = { kind: 'key', baseUrl, key } as const;
  const settings = cli.launch.settings({ access, ...chosen, home, workingDirectory: workdir, permissions });
  for (const [path, content] of Object.entries(settings.files)) {
    mkdirSync(dirname(join(home, path)), { recursive: true });
    writeFileSync(join(home, path), content);
  }
  const args = cli.launch.turn({ access: 'key', ...chosen, workingDirectory: workdir, permissions });
  const [program = '', ...words] =
    'module' in cli.release.entry
      ? [
          process.execPath,
          join(import.meta.dirname, 'bare-sdk-program.ts'),
          kind,
          await installAgent(cli),
          chosen.model,
        ]
      : [join(programs, cli.release.program), ...(settings.args ?? []), ...args];
  const { input, output, ended } = start(program, words, {
    PATH: `${programs}:${process.env.PATH}`,
    ...settings.env,
  });
  if (protocol) await askOverProtocol(input, output, { prompt, cwd: workdir });
  else output.resume();
  input.end(protocol ? undefined : prompt);
  await ended;
}

async function adapterTurn(sandbox: Sandbox): Promise<void> {
  const lane = { baseUrl, key, env: {} };
  const { status, exit } = await driveAgent(agent, { prompt, sandbox, lane, timeoutMs: LIMIT_MS });
  if (status !== 'completed') throw new Error(`${kind} did not complete: ${exit?.message}`);
}
