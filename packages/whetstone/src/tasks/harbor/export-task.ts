import { cp, mkdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Command } from '@whetstone/agents/config';
import { present } from '@whetstone/events/present';
import { makeEach } from '@whetstone/sandbox/files';
import { stringify } from 'smol-toml';
import type { TaskConfig } from '../../config/config.ts';
import { slug } from '../../config/harbor-task.ts';
import { listSource } from '../../config/source-tree.ts';
import { invocationOf } from '../../verify/tests/run-tests.ts';
import type { Verification } from '../../verify/verify.ts';
import { shellWord } from '../../workspace/shell-word.ts';
import type { TaskRoom } from '../task-room.ts';

export type ExportOptions = {
  room: TaskRoom;
  /** The folder of the exported task, absolute. */
  folder: string;
  /** The image that the environment starts from. */
  image: string;
  /** Run once in the image, before the `setup` of the task. */
  prepare: readonly Command[];
  signal: AbortSignal;
};

/** Where the tree is in the container. */
const WORKSPACE = '/workspace';

/** Seconds, where the task does not say. */
const DEFAULTS = { agent: 3600, verifier: 600, build: 1800 };

/**
 * Writes a task as a Harbor task. Resolves with the reason where that is not possible. Its reward comes from exit codes only, so the
 * task is first verified by these: without work one has to be other than 0, with its patch all have to be 0.
 */
export async function exportTask(task: TaskConfig, options: ExportOptions): Promise<string | undefined> {
  const { room, folder, signal } = options;
  const reason = notExportable(task);
  if (reason !== undefined || task.goldPatch === undefined) return reason ?? NO_PATCH;
  const patch = await readFile(task.goldPatch, 'latin1');
  const succeeded = ({ exit_code, ended }: Verification['commands'][number]) =>
    ended === 'exit' && exit_code === 0;
  for (const [work, wanted] of [
    [null, false],
    [patch, true],
  ] as const) {
    const { broken, commands, failure } = await room.judge(task, work, { signal });
    if (broken) return `it could not be verified: ${broken.evidence}`;
    const failed = commands.find((one) => !succeeded(one));
    if ((failed === undefined) === wanted) continue;
    return failed
      ? `with its patch ${failure ?? `\`${failed.command}\` exits ${failed.exit_code}, although all tests pass that have to`}`
      : 'without work all its commands exit 0';
  }
  makeEach(folder);
  try {
    await writeParts(task, patch, options);
  } catch (error) {
    await rm(folder, { recursive: true, force: true });
    throw error;
  }
  return undefined;
}

const NO_PATCH = 'it has no gold_patch, so nothing shows that it can be solved';

/** What a task can have and a Harbor task cannot, or not in the same way. */
function notExportable(task: TaskConfig): string | undefined {
  const { validation, setupEnv } = task;
  const kept: [boolean, string][] = [
    [task.eval !== undefined, 'it is an eval, which drives its agent'],
    [task.followUps !== undefined, 'it has follow-ups, and the agent gets one instruction'],
    [task.outputSchema !== undefined, 'it asks for a structured answer (output_schema)'],
    [task.protectedPaths.length > 0, 'it restores files before it is verified (protected_paths)'],
    [task.hardEvaluation !== undefined, 'it has hard checks'],
    [task.o11yContext === true, 'its tests read what the agent did (o11y_context)'],
    [task.sideEffects !== undefined, 'it forbids changes (side_effects)'],
    [setupEnv !== undefined && Object.keys(setupEnv).length > 0, 'its setup gets variables (setup_env)'],
    [validation.commands.length === 0 && !validation.tests, 'nothing verifies it'],
  ];
  return kept.find(([has]) => has)?.[1];
}

async function writeParts(task: TaskConfig, patch: string, options: ExportOptions): Promise<void> {
  const { room, folder, image, prepare } = options;
  const at = (...parts: string[]) => join(folder, ...parts);
  for (const part of ['environment/tree', 'tests', 'solution']) await mkdir(at(part), { recursive: true });
  await room.writeTree(task, at('environment/tree'));
  const { tests } = task.validation;
  if (task.hiddenTests !== undefined)
    await cp(task.hiddenTests, at('tests/files'), { recursive: true, verbatimSymlinks: true });
  const files = tests ? Object.entries(invocationOf(tests, REPORT).files ?? {}) : [];
  if (files.length > 0) await mkdir(at('tests/report'));
  for (const [name, text] of files) await writeFile(at('tests/report', name), text);
  const commands = [...prepare, ...task.setup].map((command) => `RUN ${JSON.stringify(argvOf(command))}\n`);
  await writeFile(at('solution/gold.patch'), patch, 'latin1');
  const script = { mode: 0o755 };
  await Promise.all([
    writeFile(at('task.toml'), `${stringify(manifestOf(task))}\n`),
    writeFile(at('instruction.md'), `${task.prompt.trimEnd()}\n`),
    writeFile(
      at('environment/Dockerfile'),
      `FROM ${image}\nWORKDIR ${WORKSPACE}\nCOPY tree/ ./\n${commands.join('')}`,
    ),
    writeFile(at('tests/test.sh'), await testScript(task, files.length > 0), script),
    writeFile(
      at('solution/solve.sh'),
      `#!/bin/sh\ncd ${WORKSPACE} && git apply --binary --whitespace=nowarn /solution/gold.patch\n`,
      script,
    ),
  ]);
}

const argvOf = (command: Command): readonly string[] =>
  command.kind === 'shell' ? ['/bin/sh', '-c', command.script] : command.argv;

function manifestOf(task: TaskConfig) {
  const { title, category, difficulty, timeoutSeconds, validation } = task;
  const count = validation.commands.length + (validation.tests ? 1 : 0);
  return {
    schema_version: '1.1',
    task: { name: `whetstone/${slug(task.id)}`, ...present({ description: title }) },
    metadata: { ...present({ category, difficulty, base: task.repoRef }) },
    agent: { timeout_sec: timeoutSeconds ?? DEFAULTS.agent },
    verifier: { timeout_sec: (validation.timeoutSeconds ?? DEFAULTS.verifier) * count },
    environment: { build_timeout_sec: DEFAULTS.build },
  };
}

/** Where a runner writes its report, for people. */
const REPORT = '/logs/verifier/report';

/** The commands of the clean room, with the hidden tests laid over the tree before each. */
async function testScript({ validation, hiddenTests }: TaskConfig, hasReportFiles: boolean): Promise<string> {
  const hidden = hiddenTests === undefined ? [] : (await listSource(hiddenTests)).map(({ path }) => path);
  const { commands, tests, timeoutSeconds } = validation;
  const limit = timeoutSeconds === undefined ? [] : ['timeout', String(timeoutSeconds)];
  const runs = commands.map((command) => ({ directory: '.', argv: [...limit, ...argvOf(command)] }));
  if (tests) {
    const { script, args, env } = invocationOf(tests, REPORT);
    const variables = Object.entries({ ...env, ROOT: WORKSPACE }).map(([name, value]) => `${name}=${value}`);
    const argv = ['env', ...variables, ...limit, 'sh', '-c', script, 'sh', ...args];
    runs.push({ directory: tests.directory ?? '.', argv });
  }
  return [
    '#!/bin/sh',
    '# The reward is 1 if every command exits 0.',
    `mkdir -p ${REPORT}`,
    'rm -f /logs/verifier/reward.txt /logs/verifier/reward.json',
    ...(hasReportFiles ? [`cp -R /tests/report/. ${REPORT}/`] : []),
    'reward=1',
    'lay() {',
    `  cd ${WORKSPACE} || return`,
    ...(hidden.length > 0
      ? [`  rm -rf -- ${hidden.map(shellWord).join(' ')}`, '  cp -R /tests/files/. . || reward=0']
      : []),
    '}',
    ...runs.flatMap(({ directory, argv }) => [
      'lay',
      `(cd ${shellWord(directory)} && ${argv.map(shellWord).join(' ')}) || reward=0`,
    ]),
    'echo "$reward" > /logs/verifier/reward.txt',
    '',
  ].join('\n');
}
