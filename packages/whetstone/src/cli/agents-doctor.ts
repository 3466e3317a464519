import { once } from 'node:events';
import { mkdtemp, rm } from 'node:fs/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { placesReadAbove } from '@whetstone/agents/config';
import { foundAbove } from '@whetstone/agents/evaluator';
import { type Check, checkAgents } from '@whetstone/agents/install';
import { messageOf } from '@whetstone/errors';
import { startSandboxProvider } from '@whetstone/sandbox';
import { findPreparations } from '../init/find-preparations.ts';
import { tableLines } from '../report/text-layout.ts';
import { provenSandbox } from '../run/choose-sandbox.ts';
import { gitVersion } from '../workspace/git.ts';
import { sandboxLine } from './sandbox-line.ts';
import type { Streams } from './streams.ts';

const SIGNS = { ok: '✓', note: '·', problem: '✗' } as const;

/** Looks at what a run needs of this machine and changes nothing. Exit code 1: something is a problem. */
export async function doctorCommand(
  options: { json?: boolean },
  { stdout }: Pick<Streams, 'stdout'>,
): Promise<number> {
  const checks = [...(await machineChecks(process.env)), ...(await checkAgents())];
  const hasProblem = checks.some(({ status }) => status === 'problem');
  stdout.write(options.json ? `${JSON.stringify(checks, null, 2)}\n` : asText(checks));
  return hasProblem ? 1 : 0;
}

function asText(checks: readonly Check[]): string {
  const width = Math.max(...checks.map(({ topic }) => topic.length));
  return checks
    .flatMap(({ topic, status, found, fix }) => [
      ...tableLines([{ width: 1 }, { width }, { width: found.length }], [[SIGNS[status], topic, found]]),
      ...(fix === undefined ? [] : [`   ${' '.repeat(width)}  → ${fix}`]),
    ])
    .map((line) => `${line}\n`)
    .join('');
}

async function machineChecks(environment: NodeJS.ProcessEnv): Promise<Check[]> {
  return [
    { topic: 'Node', status: 'ok', found: `${process.version} on ${process.platform}-${process.arch}` },
    await checkGit(),
    await checkSandbox(),
    await checkSealed(),
    await checkLoopback(),
    ...checkProxy(environment),
    ...checkAbove(),
    ...checkPackages(process.cwd()),
  ];
}

async function checkGit(): Promise<Check> {
  const version = await gitVersion().catch(() => undefined);
  if (version !== undefined) return { topic: 'Git', status: 'ok', found: version };
  return { topic: 'Git', status: 'problem', found: 'not found', fix: 'install git' };
}

async function checkSandbox(): Promise<Check> {
  const topic = 'sandbox';
  const scratch = await mkdtemp(join(tmpdir(), 'whetstone-doctor-'));
  try {
    const { provider, level, processes, neighbours, network } = await (
      await startSandboxProvider('process', { scratch })
    ).describe();
    const found = `${provider}, level ${level}: processes by ${processes}, neighbours ${neighbours}, network ${network}`;
    if (processes === 'pid-namespace' && neighbours === 'hidden') return { topic, status: 'ok', found };
    const fix = 'run as root, or allow unprivileged user namespaces, so that cases do not see each other';
    return { topic, status: 'note', found, fix };
  } catch (error) {
    return { topic, status: 'problem', found: messageOf(error) };
  } finally {
    await rm(scratch, { recursive: true, force: true });
  }
}

/** What `sandbox: auto` can be here. */
async function checkSealed(): Promise<Check> {
  const topic = 'sealed';
  const chosen = await provenSandbox();
  const { provider, reasons } = chosen;
  if (provider === 'process') {
    return { topic, status: 'note', found: `\`sandbox: auto\` is process. ${reasons.join(' ')}` };
  }
  return { topic, status: 'ok', found: sandboxLine({ level: 1, ...chosen }) };
}

/** The gateway listens on a free port of 127.0.0.1. */
async function checkLoopback(): Promise<Check> {
  const topic = 'loopback';
  const server = createServer();
  try {
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { topic, status: 'ok', found: 'a port of 127.0.0.1 can be opened' };
  } catch (error) {
    return {
      topic,
      status: 'problem',
      found: messageOf(error),
      fix: 'the gateway needs a port of 127.0.0.1',
    };
  } finally {
    server.close();
  }
}

/** Agents get no proxy of the user; the gateway calls its providers through it. */
function checkProxy(environment: NodeJS.ProcessEnv): Check[] {
  const names = ['HTTPS_PROXY', 'HTTP_PROXY', 'https_proxy', 'http_proxy'].filter(
    (name) => environment[name],
  );
  if (names.length === 0) return [];
  const found = `${names.join(', ')} is set: the gateway calls its providers through it`;
  return [{ topic: 'proxy', status: 'note', found }];
}

/** Where the current folder is a project: what could install its packages once for all cases. */
function checkPackages(folder: string): Check[] {
  const [first] = findPreparations(folder);
  if (!first) return [];
  const found = `${first.commands.join(' && ')} (${first.from})`;
  const inputs = first.inputs ? `, inputs: ${first.inputs}` : '';
  const fix = `to install once for all cases: environment: { prepare: ${JSON.stringify(first.commands)}${inputs} }`;
  return [{ topic: 'packages', status: 'note', found, fix }];
}

/** Agents read instructions in every folder above their workspace, which is below the temporary folder. */
function checkAbove(): Check[] {
  const found = foundAbove(join(tmpdir(), 'workspace'), placesReadAbove());
  if (found.length === 0) return [];
  const fix = 'move it away, or set TMPDIR to a folder without such files in it and above it';
  return [{ topic: 'instructions', status: 'problem', found: `agents would read ${found.join(', ')}`, fix }];
}
