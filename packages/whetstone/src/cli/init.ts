import { mkdir, stat, writeFile } from 'node:fs/promises';
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
  agentProfiles: boolean;
  /** Overwrite files that are there. */
  force: boolean;
  stdout: NodeJS.WritableStream;
  /** Default: the current directory. */
  cwd?: string;
};

/**
 * Writes a starter config that loads and runs as it stands. Returns 0.
 *
 * @throws WhetstoneError `init-exists` (exit code 2) when a file is there already and `force` is not set; nothing is
 * written then.
 */
export async function initCommand(options: InitOptions): Promise<number> {
  const cwd = options.cwd ?? process.cwd();
  const directory = resolve(cwd, options.directory);
  const files = starterFiles(options, relativeTo(directory, resolve(cwd, options.repoPath)));
  const names = Object.keys(files);
  const existing = [];
  for (const name of names) if (await exists(join(directory, name))) existing.push(name);
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
  options.stdout.write(
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
  const agents = options.agentProfiles
    ? agentProfiles(yamlText(agentCommand))
    : singleAgent(yamlText(agentCommand));
  return {
    'whetstone.yaml': configText(yamlText(repoPath) ?? '.', agents),
    'tasks.yaml': TASKS_TEXT,
    'contexts/baseline/AGENTS.md': '# Notes for agents\n',
    'contexts/experiment/AGENTS.md': EXPERIMENT_CONTEXT,
  };
}

/** A value as YAML on one line, quoted where it must be. */
function yamlText(value: string | undefined): string | undefined {
  return value === undefined
    ? undefined
    : stringify(value, { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE' }).trimEnd();
}

function relativeTo(from: string, to: string): string {
  return (relative(from, to) || '.').split(sep).join('/');
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    () => true,
    () => false,
  );
}
