import { existsSync } from 'node:fs';
import { chmod, cp, mkdir, mkdtemp, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { basename, dirname, join, resolve, sep } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { SandboxProvider } from '@whetstone/sandbox';
import { stringify } from 'yaml';
import { HARBOR_VERIFIER } from '../../config/harbor-task.ts';
import { TASK_FILE } from '../../config/read-task-file.ts';
import { sourceProblems } from '../../config/source-tree.ts';
import { inContainer } from '../../workspace/container-layout.ts';
import { git } from '../../workspace/git.ts';
import { shellWord } from '../../workspace/shell-word.ts';
import { patchOfFolders } from '../draft.ts';
import { type Dockerfile, namesPath, readDockerfile } from './dockerfile.ts';
import { type Manifest, needsContainer, readManifest } from './manifest.ts';

export type ImportOptions = {
  /** The folder of the new task, absolute. */
  folder: string;
  /** A repository that gets the tree of the task as a commit. */
  gitDir: string;
  sandboxes: SandboxProvider;
  /** For trees while the solution runs. */
  scratch: string;
  signal: AbortSignal;
};

/** What was made of a Harbor task, and what a person should know about it, in sentences. */
export type Imported = { notes: string[] };

/** Makes a task of a Harbor task. Runs its solution. A text: why it cannot be one. */
export async function importTask(source: string, options: ImportOptions): Promise<Imported | string> {
  const read = await readParts(source).catch((error: unknown) => messageOf(error));
  if (typeof read === 'string') return read;
  const { scratch, folder } = options;
  const work = await mkdtemp(join(scratch, 'harbor-'));
  try {
    const made = await fillTree(join(source, 'environment'), join(work, 'repo'), read.image);
    if (made !== undefined) return made;
    const commit = await commitTree(join(work, 'repo'), basename(folder), options);
    const patch = await solve(source, work, read, options);
    if ('refused' in patch) return patch.refused;
    await writeParts(source, folder, { ...read, commit, patch: patch.text });
    return { notes: notesOf(read) };
  } finally {
    await rm(work, { recursive: true, force: true });
  }
}

type Parts = { manifest: Manifest; image: Dockerfile; instruction: string };

async function readParts(source: string): Promise<Parts | string> {
  const has = (path: string) => existsSync(join(source, path));
  if (has('steps')) return 'it has several steps';
  if (has('environment/docker-compose.yaml'))
    return 'its environment has several containers (docker-compose.yaml)';
  for (const path of ['instruction.md', 'environment/Dockerfile', 'tests/test.sh'])
    if (!has(path)) return `it has no ${path}`;
  if (!has('solution/solve.sh')) return 'it has no solution/solve.sh, so nothing shows that it can be solved';
  const read = (path: string) => readFile(join(source, path), 'utf8');
  const manifest = readManifest(await read('task.toml'));
  const reason = needsContainer(manifest);
  if (reason !== undefined) return reason;
  const image = readDockerfile(await read('environment/Dockerfile'));
  if (typeof image === 'string') return image;
  const { workdir = image.workdir } = manifest.environment;
  if (workdir !== image.workdir) return `its workspace ${workdir} is not the WORKDIR of its Dockerfile`;
  const top = `/${workdir.split('/')[1]}`;
  if (workdir !== top && existsSync(top))
    return `its workspace ${workdir} is in a folder that this machine has`;
  return { manifest, image, instruction: await read('instruction.md') };
}

/** Puts the files of the image where they are in the workspace. Resolves with the reason where that is not possible. */
async function fillTree(context: string, tree: string, { copies }: Dockerfile): Promise<string | undefined> {
  await mkdir(tree);
  for (const { from, to, isFolder } of copies) {
    const file = resolve(context, from);
    if (file !== context && !file.startsWith(context + sep))
      return `its Dockerfile copies ${from}, which is outside of it`;
    if (!existsSync(file)) return `its Dockerfile copies ${from}, which does not exist`;
    const target = (await stat(file)).isFile() && isFolder ? join(to, basename(from)) : to;
    await mkdir(dirname(join(tree, target)), { recursive: true });
    await cp(file, join(tree, target), { recursive: true, verbatimSymlinks: true });
  }
  const [problem] = await sourceProblems(tree);
  return problem && `its files cannot be a tree: ${problem}`;
}

/** The same files are the same commit, so that importing again changes nothing. */
async function commitTree(tree: string, name: string, { gitDir, scratch }: ImportOptions): Promise<string> {
  const indexFile = join(scratch, `index-${name}`);
  const call = { gitDir, workTree: tree, indexFile };
  await git(['add', '-A', '-f', '--', '.'], call);
  const id = (await git(['write-tree'], call)).toString().trim();
  const author = 'Whetstone <whetstone@localhost> 0 +0000';
  const content = `tree ${id}\nauthor ${author}\ncommitter ${author}\n\n${name}\n`;
  const commit = (await git(['hash-object', '-t', 'commit', '-w', '--stdin'], { gitDir, input: content }))
    .toString()
    .trim();
  await git(['update-ref', `refs/heads/${name}`, commit], { gitDir });
  return commit;
}

/** Runs the solution on the tree, and resolves with what it changed; bytes as a latin1 string. */
async function solve(
  source: string,
  work: string,
  { image, manifest }: Parts,
  { sandboxes, signal }: ImportOptions,
): Promise<{ text: string } | { refused: string }> {
  const tree = join(work, 'repo');
  await cp(join(source, 'solution'), join(work, 'solution'), { recursive: true });
  await chmod(join(work, 'solution/solve.sh'), 0o755);
  const mounts = { [image.workdir]: shellWord(tree), '/solution': shellWord(join(work, 'solution')) };
  const env = { ...image.env, ...manifest.environment.env, ...manifest.solution.env };
  await using sandbox = await sandboxes.start({ workdir: tree, env });
  const run = async (script: string) => {
    const { exitCode, stderr, stdout } = await sandbox.runShell(script, { signal });
    return exitCode === 0
      ? undefined
      : `exits ${exitCode} (${`${stdout}\n${stderr}`.trim().split('\n').at(-1)})`;
  };
  for (const script of image.runs) {
    const failed = await run(script);
    if (failed !== undefined) return { refused: `\`${script}\` of its Dockerfile ${failed}` };
  }
  await cp(tree, join(work, 'a'), { recursive: true, verbatimSymlinks: true });
  const failed = await run(`${inContainer(mounts, image.workdir, '/solution/solve.sh')}exit $status`);
  if (failed !== undefined) return { refused: `its solution/solve.sh ${failed}` };
  await cp(tree, join(work, 'b'), { recursive: true, verbatimSymlinks: true });
  const text = await patchOfFolders(work);
  return text === '' ? { refused: `its solution changes nothing below ${image.workdir}` } : { text };
}

async function writeParts(
  source: string,
  folder: string,
  { manifest, image, instruction, commit, patch }: Parts & { commit: string; patch: string },
): Promise<void> {
  const { category, difficulty } = manifest.metadata;
  const text = (value: unknown) => (typeof value === 'string' ? value : undefined);
  const hidden = join(folder, 'tests', HARBOR_VERIFIER);
  await mkdir(hidden, { recursive: true });
  await cp(join(source, 'tests'), join(hidden, 'tests'), { recursive: true, verbatimSymlinks: true });
  await chmod(join(hidden, 'tests/test.sh'), 0o755);
  const env = { ...image.env, ...manifest.environment.env, ...manifest.verifier.env };
  await writeFile(join(hidden, 'verify.sh'), verifyScript(image.workdir, env));
  await writeFile(join(folder, 'gold.patch'), patch, 'latin1');
  const task = {
    id: basename(folder),
    ...present({ title: manifest.task.description, category: text(category), difficulty: text(difficulty) }),
    prompt: inWorkspace(instruction, image.workdir).trim(),
    repo_ref: commit,
    ...present({
      setup: image.runs.length > 0 ? image.runs : undefined,
      timeout_seconds: manifest.agent.timeout_sec,
    }),
    hidden_tests: 'tests',
    gold_patch: 'gold.patch',
    validation: {
      commands: [`sh ${HARBOR_VERIFIER}/verify.sh`],
      ...present({ timeout_seconds: manifest.verifier.timeout_sec }),
    },
  };
  await writeFile(join(folder, TASK_FILE), stringify(task, { lineWidth: 0 }));
}

/** Runs `tests/test.sh` where it expects to be, and exits with 0 if the reward that it left is 1. */
function verifyScript(workdir: string, env: Record<string, string>): string {
  const variables = Object.entries(env).map(([name, value]) => `export ${name}=${shellWord(value)}\n`);
  // What the verifier leaves must be new: a reward that was there already is not in this folder.
  const mounts = { [workdir]: '"$PWD"', '/tests': `"$PWD/${HARBOR_VERIFIER}/tests"`, '/logs': '"$logs"' };
  return `logs=$(mktemp -d) && mkdir "$logs/verifier" "$logs/agent" "$logs/artifacts" || exit 126
${variables.join('')}${inContainer(mounts, workdir, '/tests/test.sh')}
[ "$status" = 126 ] && exit 126
reward=$logs/verifier/reward
if [ -e "$reward.txt" ] && [ -e "$reward.json" ]; then echo 'two rewards: reward.txt and reward.json' >&2; exit 1; fi
if [ -e "$reward.txt" ]; then values=$(cat "$reward.txt")
elif [ -e "$reward.json" ]; then values=$(tr -d '{}" \\n' < "$reward.json" | tr ',' '\\n' | sed 's/.*://')
else echo "no reward; test.sh exited with $status" >&2; exit 1; fi
echo "reward: $values" >&2
printf '%s\\n' "$values" | awk '!/^[0-9]*[.]?[0-9]+$/ || $1 < 1 { bad = 1 } END { exit bad || !NR }'
`;
}

/** The instruction, with paths of the container relative to the workspace. */
const inWorkspace = (text: string, workdir: string): string => {
  const path = workdir.replace(/[^\w/]/g, '\\$&');
  return text
    .replace(new RegExp(`(?<![\\w/.-])${path}/(?=[\\w.])`, 'g'), '')
    .replace(new RegExp(`(?<![\\w/.-])${path}/?(?![\\w/-])`, 'g'), './');
};

function notesOf({ manifest, image, instruction }: Parts): string[] {
  const { environment, agent } = manifest;
  const modes = [environment.network_mode, agent.network_mode];
  const isClosed =
    environment.allow_internet === false || modes.some((mode) => mode !== undefined && mode !== 'public');
  const names = Object.keys({ ...image.env, ...environment.env });
  const outside = ['/tests', '/logs', '/solution'].filter((path) => namesPath(instruction, path));
  return [
    ...(namesPath(instruction, image.workdir)
      ? [`its instruction names ${image.workdir}; these paths are now relative`]
      : []),
    ...(outside.length > 0
      ? [`its instruction names ${outside.join(' and ')}, which no agent here has`]
      : []),
    ...(names.length > 0 ? [`agents do not get ${names.join(', ')}, only its commands do`] : []),
    ...(isClosed ? ['its container has no open network; an agent has what its profile says'] : []),
  ];
}
