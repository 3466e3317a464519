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
  const rows = agents.map(({ kind, tested_version, on_path, installed_versions, wire }) => {
    return [kind, tested_version, on_path ? 'on the PATH' : '', installed_versions.join(', '), wire];
  });
  const head = ['kind', 'tested', 'PATH', 'installed', 'wire'];
  const columns = head.map((title, at) => {
    return { width: Math.max(title.length, ...rows.map((row) => row[at]?.length ?? 0)) };
  });
  stdout.write(
    `${tableLines(columns, [head, ...rows]).join('\n')}\n\nOther agents run as commands or modules (traecli, coco, bub, custom) or in this process (loop).\nTo install one for Whetstone only: whetstone agents install KIND[@VERSION]\n`,
  );
  return 0;
}
