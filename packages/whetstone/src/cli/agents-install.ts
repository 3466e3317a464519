import { findDrivenAgent } from '@whetstone/agents';
import { installAgent, isInstalled, testedVersion } from '@whetstone/agents/install';
import { onInterrupt } from './interrupt.ts';

type Streams = { stdout: NodeJS.WriteStream; stderr: NodeJS.WriteStream };

/** Puts released agents into the user's cache, each version once: `KIND`, or `KIND@VERSION`. */
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
  const { signal, stop } = onInterrupt(stderr);
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
  } finally {
    stop();
  }
}
