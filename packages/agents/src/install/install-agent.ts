import { type ExecFileOptions, execFile } from 'node:child_process';
import { once } from 'node:events';
import { globSync } from 'node:fs';
import { chmod, mkdir, mkdtemp, rename, symlink, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { removeTree } from '@whetstone/sandbox';
import { makeEach } from '@whetstone/sandbox/files';
import type { DrivenAgent } from '../native/native-agent.ts';
import { agentFolder, isInstalled, programIn, unpackedFolder } from './installed-agents.ts';
import testedVersions from './tested-versions.json' with { type: 'json' };

const UNPACK_LIMIT_MS = 120_000;

/** The version that Whetstone's own tests use. */
export function testedVersion({ release: { package: name } }: DrivenAgent): string {
  const version = (testedVersions as Record<string, string>)[name];
  if (version === undefined) throw new TypeError(`No version of ${name} is tested.`);
  return version;
}

/**
 * Installs a released agent from npm into a folder of its own, once per version. Resolves with the absolute path of its
 * program. Install scripts do not run, because they would only link files of the packages, or download more.
 *
 * @throws WhetstoneError `agent-install-failed`
 */
export async function installAgent(
  agent: DrivenAgent,
  { version = testedVersion(agent), signal }: { version?: string; signal?: AbortSignal } = {},
): Promise<string> {
  const { starts } = agent.release;
  if (starts) await installAgent(starts, present({ signal }));
  const folder = agentFolder(agent, version);
  if (await isInstalled(agent, version)) return programIn(agent, version);
  makeEach(dirname(folder));
  const making = await mkdtemp(`${folder}.`);
  try {
    await writeFile(join(making, 'package.json'), JSON.stringify({ private: true }));
    await npmInstall(`${agent.release.package}@${version}`, making, signal);
    const found = programBelow(agent, making);
    if (!('module' in agent.release.entry)) await linkProgram(agent, making, join(folder, found));
    await unpack(agent, join(making, found), making, signal);
    // The rename makes the installation appear as a whole. Another process may have been quicker, or left half of one.
    await rename(making, folder).catch(async () => {
      if (await isInstalled(agent, version)) return;
      await removeTree(folder);
      await rename(making, folder);
    });
  } finally {
    await removeTree(making);
  }
  return programIn(agent, version);
}

async function npmInstall(specification: string, cwd: string, signal?: AbortSignal): Promise<void> {
  const flags = ['--ignore-scripts', '--no-audit', '--no-fund', '--no-package-lock', '--loglevel=error'];
  const options = { cwd, ...present({ signal }) };
  const failure = await failureOf('npm', ['install', ...flags, specification], options);
  if (!failure) return;
  const message = `npm could not install ${specification}: ${lastLines(failure.stderr)}`;
  throw new WhetstoneError('agent-install-failed', message, {
    hint: 'Check the version and the network, or install it yourself and leave `version` out.',
  });
}

/** The end of what npm printed, without its news about itself and the place of its log. */
const lastLines = (text: string): string =>
  text
    .trim()
    .split('\n')
    .filter((line) => !/^npm (?:notice|warn)|A complete log of this run/.test(line))
    .slice(-5)
    .join('\n')
    .slice(-2_000);

/**
 * The program of an installation, relative to its folder.
 * @throws WhetstoneError `agent-install-failed` when its makers publish none for this machine
 */
function programBelow({ release: { entry, package: name } }: DrivenAgent, folder: string): string {
  const platform = `${process.platform}-${process.arch}`;
  const pattern =
    'native' in entry
      ? entry.native.replace('PLATFORM', platform)
      : 'script' in entry
        ? entry.script
        : entry.module;
  const [found] = globSync(join('node_modules', pattern), { cwd: folder });
  if (found !== undefined) return found;
  throw new WhetstoneError('agent-install-failed', `${name} publishes no program for ${platform}.`);
}

/** A script runs on this Node, which supports it, whatever Node the PATH of a run has. */
async function linkProgram(
  { release: { entry, program } }: DrivenAgent,
  folder: string,
  target: string,
): Promise<void> {
  const link = join(folder, 'bin', program);
  await mkdir(dirname(link));
  if ('native' in entry) return await symlink(target, link);
  await writeFile(link, `#!/bin/sh\nexec '${process.execPath}' '${target}' "$@"\n`);
  await chmod(link, 0o755);
}

/** When the program cannot be unpacked now, it unpacks itself in each case. */
async function unpack(
  { release: { unpacking } }: DrivenAgent,
  program: string,
  folder: string,
  signal?: AbortSignal,
): Promise<void> {
  if (!unpacking) return;
  const failure = await failureOf(program, ['--version'], {
    env: { PATH: process.env.PATH, HOME: folder, ...unpacking(unpackedFolder(folder)) },
    timeout: UNPACK_LIMIT_MS,
    ...present({ signal }),
  });
  // Every case would complete a partial folder, all in the same place and at the same time.
  if (failure) await removeTree(unpackedFolder(folder));
}

/** Runs a program to its end, without input. Rejects with the reason of `signal` when that aborts. */
async function failureOf(
  program: string,
  args: string[],
  options: ExecFileOptions,
): Promise<{ stderr: string } | undefined> {
  const running = promisify(execFile)(program, args, { ...options, encoding: 'utf8', killSignal: 'SIGKILL' });
  const { child } = running;
  child.stdin?.end();
  const failure = await running.then(
    () => undefined,
    (error: { stderr: string }) => error,
  );
  // An abort rejects before the program has ended, which may still write.
  const isRunning = child.pid !== undefined && child.exitCode === null && child.signalCode === null;
  if (isRunning) await once(child, 'exit');
  options.signal?.throwIfAborted();
  return failure;
}
