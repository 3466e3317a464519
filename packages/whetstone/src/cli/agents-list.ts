import { drivenAgents } from '@whetstone/agents';
import { findOnPath } from '@whetstone/agents/config';
import { installedVersions, testedVersion } from '@whetstone/agents/install';
import { sandboxPath } from '@whetstone/sandbox';
import { tableLines } from '../report/text-layout.ts';
import type { Streams } from './streams.ts';

/** Lists every released agent that Whetstone drives itself, and where it is on this machine. */
export async function listCommand(options: { json?: boolean }, { stdout }: Streams): Promise<number> {
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
  const rows = [
    ['kind', 'tested', 'PATH', 'installed', 'wire'],
    ...agents.map((agent) => [
      agent.kind,
      agent.tested_version,
      agent.on_path ? 'on the PATH' : '',
      agent.installed_versions.join(', '),
      agent.wire,
    ]),
  ];
  const columns = (rows[0] ?? []).map((_, at) => ({
    width: Math.max(...rows.map((row) => row[at]?.length ?? 0)),
  }));
  stdout.write(
    `${tableLines(columns, rows).join('\n')}\n\nOther agents run as commands or modules (traecli, coco, bub, custom) or in this process (loop).\nTo install one for Whetstone only: whetstone agents install KIND[@VERSION]\n`,
  );
  return 0;
}
