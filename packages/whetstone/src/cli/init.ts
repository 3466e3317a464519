import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { stringify } from 'yaml';
import { agentProfiles, configText, EXPERIMENT_CONTEXT, singleAgent, TASKS_TEXT } from './starter-files.ts';

export type InitOptions = {
  /** Where the files go. */
  directory: string;
  /** The Git repository to evaluate on; relative to `cwd`. */
  repoPath: string;
  /** Default: a stand-in that needs no agent and no key. */
  agentCommand?: string;
  /** Write presets for several agents (`agents`) instead of one (`agent`). */
  agentProfiles?: boolean;
  /** Overwrite files that exist. */
  force?: boolean;
};

/**
 * Writes a starter config that loads and runs as it stands. Returns 0.
 * @throws WhetstoneError `init-exists` (exit code 2) when a file exists and `force` is not set. Nothing is written
 * then.
 */
export async function initCommand(
  options: InitOptions,
  { stdout }: { stdout: NodeJS.WritableStream },
  cwd = process.cwd(),
): Promise<number> {
  const directory = resolve(cwd, options.directory);
  const files = starterFiles(options, relativeTo(directory, resolve(cwd, options.repoPath)));
  const names = Object.keys(files);
  const existing = names.filter((name) => existsSync(join(directory, name)));
  if (existing.length > 0 && !options.force) {
    throw new WhetstoneError('init-exists', `These files exist already: ${existing.join(', ')}`, {
      where: directory,
      hint: 'Choose another --directory, or overwrite them with --force.',
    });
  }
  for (const [name, content] of Object.entries(files)) {
    await mkdir(dirname(join(directory, name)), { recursive: true });
    await writeFile(join(directory, name), content);
  }
  const config = join(relativeTo(cwd, directory), 'whetstone.yaml');
  stdout.write(
    [
      ...names.map((name) => `Wrote ${join(relativeTo(cwd, directory), name)}`),
      '',
      'Next:',
      `  whetstone validate-config --strict -c ${config}`,
      `  whetstone run -c ${config}`,
      '',
    ].join('\n'),
  );
  return 0;
}

function starterFiles(options: InitOptions, repoPath: string): Record<string, string> {
  const { agentCommand } = options;
  const command = agentCommand === undefined ? undefined : yamlText(agentCommand);
  const agents = options.agentProfiles ? agentProfiles(command) : singleAgent(command);
  return {
    'whetstone.yaml': configText(yamlText(repoPath), agents),
    'tasks.yaml': TASKS_TEXT,
    'contexts/baseline/AGENTS.md': '# Notes for agents\n',
    'contexts/experiment/AGENTS.md': EXPERIMENT_CONTEXT,
  };
}

/** A value as YAML on one line, quoted where it must be. */
function yamlText(value: string): string {
  return stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }).trimEnd();
}

function relativeTo(from: string, to: string): string {
  return (relative(from, to) || '.').split(sep).join('/');
}
