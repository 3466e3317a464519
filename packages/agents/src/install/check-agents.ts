import { homedir, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { isUnder } from '@whetstone/sandbox';
import { type AgentHere, adaptersHere, agentsHere } from './agents-here.ts';
import { testedVersion } from './install-agent.ts';
import { versionOfProgram } from './package-of.ts';

/** One thing that was looked at. `note`: it works, or is not needed, and a user may want to know. */
export type Check = {
  topic: string;
  status: 'ok' | 'note' | 'problem';
  found: string;
  /** What to do about it. */
  fix?: string;
};

/**
 * Looks at what the released agents need on this machine: programs, versions, keys, logins. Reads only; starts no
 * program, and shows no key.
 */
export async function checkAgents(environment: NodeJS.ProcessEnv = process.env): Promise<Check[]> {
  const agents = [...(await agentsHere(environment)), ...(await adaptersHere(environment))];
  const checks = await Promise.all(agents.map(checkAgent));
  return [...checks, ...checkCodexHome(environment)];
}

async function checkAgent(here: AgentHere<string>): Promise<Check> {
  const { kind, agent, onPath, installed, missing, key, login } = here;
  const tested = testedVersion(agent);
  const topic = kind;
  if (onPath === null && installed.length === 0) {
    return { topic, status: 'note', found: 'not installed', fix: `whetstone agents install ${kind}` };
  }
  const version = onPath === null ? null : await versionOfProgram(onPath, agent.release.package);
  const places = [
    ...(onPath === null ? [] : [`${onPath} (${version ?? 'version unknown'})`]),
    ...installed.map((one) => `installed ${one}`),
  ];
  const access = [
    ...(key.isSet ? [`${key.variable} is set`] : []),
    ...(login === null ? [] : [`login in ${login}`]),
  ];
  const found = [...places, ...(access.length > 0 ? access : ['no key and no login'])].join(', ');
  const used = version ?? installed[0];
  if (missing !== undefined) {
    const fix = `whetstone agents install ${kind} installs both`;
    return { topic, status: 'note', found: `${found}, but ${missing} is not here, which it starts`, fix };
  }
  if (access.length === 0) {
    const fix = `set ${key.variable}, or use a gateway that has a key`;
    return { topic, status: 'note', found, fix };
  }
  if (used !== tested) {
    const fix = `Whetstone is tested with ${tested}: whetstone agents install ${kind}@${tested}`;
    return { topic, status: 'note', found, fix };
  }
  return { topic, status: 'ok', found };
}

/** Codex refuses to put its sandbox helper below a temporary folder, and then each sandboxed command fails. */
function checkCodexHome(environment: NodeJS.ProcessEnv): Check[] {
  const home = resolve(environment.CODEX_HOME ?? join(environment.HOME ?? homedir(), '.codex'));
  const temporary = resolve(environment.TMPDIR ?? tmpdir());
  if (!isUnder(temporary, home)) return [{ topic: 'CODEX_HOME', status: 'ok', found: home }];
  return [
    {
      topic: 'CODEX_HOME',
      status: 'problem',
      found: `${home} is below the temporary folder ${temporary}, where Codex has no sandbox for its commands`,
      fix: 'set CODEX_HOME or TMPDIR to another folder',
    },
  ];
}
