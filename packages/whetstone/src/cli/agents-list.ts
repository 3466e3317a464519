import { drivenAgents } from '@whetstone/agents';
import { findOnPath } from '@whetstone/agents/config';
import { installedVersions, testedVersion } from '@whetstone/agents/install';
import { sandboxPath } from '@whetstone/sandbox';

/** Every released agent that Whetstone drives itself: what it is, and where it is on this machine. */
export async function listCommand(options: { json?: boolean }, stdout: NodeJS.WriteStream): Promise<number> {
  const lookUp = findOnPath(sandboxPath(process.env.PATH));
  const agents = await Promise.all(
    Object.values(drivenAgents).map(async (agent) => ({
      kind: agent.kind,
      package: agent.release.package,
      program: agent.release.program,
      wire: agent.release.wire,
      default_model: agent.release.defaultModel,
      tested_version: testedVersion(agent),
      on_path: (await lookUp(agent.release.program)) ?? null,
      installed_versions: await installedVersions(agent),
    })),
  );
  if (options.json) {
    stdout.write(`${JSON.stringify(agents, null, 2)}\n`);
    return 0;
  }
  const rows = agents.map((agent) => [
    agent.kind,
    agent.tested_version,
    agent.on_path ? 'on the PATH' : '',
    agent.installed_versions.join(', '),
    agent.wire,
  ]);
  const { default: Table } = await import('cli-table3');
  const table = new Table({
    head: ['kind', 'tested', 'PATH', 'installed', 'wire'],
    style: { head: [], border: [], compact: true },
  });
  table.push(...rows);
  stdout.write(
    `${table.toString()}\n\nOthers run as commands or modules: traecli, coco, bub, custom; ours in process: loop.\nwhetstone agents install KIND[@VERSION] installs one for Whetstone alone.\n`,
  );
  return 0;
}
