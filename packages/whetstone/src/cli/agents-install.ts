import { findDrivenAgent } from '@whetstone/agents';
import { type AgentConfig, drivenAgentOf } from '@whetstone/agents/config';
import { installAgent, isInstalled, testedVersion } from '@whetstone/agents/install';
import { onInterrupt } from './interrupt.ts';
import type { Streams } from './streams.ts';

/** Installs released agents into the user's cache, each version once. A name is `KIND` or `KIND@VERSION`. */
export async function installCommand(
  names: readonly string[],
  options: { json?: boolean },
  { stdout, stderr }: Streams,
): Promise<number> {
  const wanted = names.map((name) => {
    const [kind = '', version] = name.split('@', 2);
    const agent = findDrivenAgent(kind);
    return { agent, version: version || testedVersion(agent) };
  });
  using interrupt = onInterrupt(stderr);
  const { signal } = interrupt;
  try {
    for (const { agent, version } of wanted) {
      const before = await isInstalled(agent, version);
      if (!before) stderr.write(`Installing ${agent.release.package}@${version}…\n`);
      const program = await installAgent(agent, { version, signal });
      const result = { kind: agent.kind, version, program, installed_now: !before };
      stdout.write(options.json ? `${JSON.stringify(result)}\n` : `${agent.kind} ${version}  ${program}\n`);
    }
    return 0;
  } catch (error) {
    if (signal.aborted) return 130;
    throw error;
  }
}

/** Installs the agents of a config that name a version which is not here. Says so on stderr. */
export async function installMissing(
  agents: readonly AgentConfig[],
  { stderr }: Pick<Streams, 'stderr'>,
): Promise<void> {
  for (const agent of agents) {
    if (agent.runner !== 'driver' || agent.driver.version === undefined) continue;
    const { version } = agent.driver;
    const found = drivenAgentOf(agent);
    if (await isInstalled(found, version)) continue;
    stderr.write(`Installing ${found.release.package}@${version}…\n`);
    using interrupt = onInterrupt(stderr);
    await installAgent(found, { version, signal: interrupt.signal });
  }
}
