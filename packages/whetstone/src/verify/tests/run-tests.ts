import { mkdir, mkdtemp, readdir, writeFile } from 'node:fs/promises';
import { basename, dirname, join, relative } from 'node:path';
import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import {
  type CommandResult,
  giveTree,
  type Mask,
  ownerOf,
  removeTree,
  type Sandbox,
} from '@whetstone/sandbox';
import type { TaskTests } from '../../config/config.ts';
import type { TestRunnerName } from '../../config/schema.ts';
import { parentPaths } from '../../workspace/tree-path.ts';
import { readInTree } from '../read-in-tree.ts';
import { lastLines, type RanCommand } from '../run-commands.ts';
import { cargoTest, goTest } from './go-and-cargo.ts';
import { mocha } from './mocha.ts';
import { nodeTest } from './node-test.ts';
import { pytest, pythonUnittest } from './python.ts';
import {
  ENDED_EARLY,
  type Invocation,
  NO_REPORT,
  type TestReport,
  type TestRunner,
  type Variable,
  type Variation,
} from './test-runner.ts';
import { jest, vitest } from './vitest-and-jest.ts';
import { watchFiles } from './watch-files.ts';

const runners: Readonly<Record<TestRunnerName, TestRunner>> = {
  'node-test': nodeTest,
  vitest,
  jest,
  mocha,
  pytest,
  unittest: pythonUnittest,
  'go-test': goTest,
  'cargo-test': cargoTest,
};

export const variationsOf = (runner: TestRunnerName): Variable => runners[runner].varies;

/** How the tests of a task are run. `folder` gets the report, as commands see it. */
export function invocationOf(
  tests: TaskTests,
  folder: string,
  how: Surroundings & { isTerse?: boolean; settings?: 'found' | 'ours' } = {},
): Invocation {
  const files = tests.files.map((file) => relative(tests.directory ?? '', file));
  const settings = tests.settings === 'own' ? 'ours' : 'found';
  return runners[tests.runner].invoke({ files, options: tests.options }, folder, { settings, ...how });
}

export type RanTests = RanCommand & {
  report: TestReport;
  /** Writes the logs that were held back. Of a long output only the beginning and the end are known. */
  writeLogs(): Promise<void>;
};

/** Surroundings of a run of tests, for finding tests that depend on them. */
export type Surroundings = Variation & {
  /** Put before the command, for example to take away the network. Default: nothing. */
  prefix?: readonly string[];
};

/** In bytes. A larger report counts as none, and of a larger output only the beginning is read. */
const REPORT_LIMIT = 256 * 1024 * 1024;

/** Runs tests in a sandbox with their own runner. Reads the report when no process of the runner is left. */
export async function runTests(
  sandbox: Sandbox,
  tests: TaskTests,
  options: {
    /** The root of the tree on this machine, absolute. Commands see it as the workdir of the sandbox. */
    tree: string;
    /** For logs, made when needed. */
    directory: string;
    /** The beginning of the names of the logs. Default: `tests`. */
    name?: string;
    /** Nothing is written to the logs before the returned `writeLogs` is called. Default: they are written meanwhile. */
    holdsLogs?: boolean;
    timeoutMs?: number;
    mask: Mask;
    signal: AbortSignal;
    surroundings?: Surroundings;
    /** See `TestRunner.invoke`. */
    isTerse?: boolean;
  },
): Promise<RanTests> {
  const { tree, directory, mask, signal, surroundings = {}, isTerse = false, name = 'tests' } = options;
  const runner = runners[tests.runner];
  await mkdir(directory, { recursive: true });
  const folder = await mkdtemp(join(dirname(tree), 'report-'));
  try {
    const { directory: below = '' } = tests;
    const seen = sandbox.seenPath(folder);
    const settings = (await hasSettings(tree, tests, runner)) ? 'found' : 'ours';
    const invocation = invocationOf(tests, seen, { ...surroundings, isTerse, settings });
    for (const [name, text] of Object.entries(invocation.files ?? {}))
      await writeFile(join(folder, name), text);
    await giveTree(folder, ownerOf(dirname(tree)));
    const log = (stream: string) => join(directory, `${name}.${stream}.log`);
    const [program = 'sh', ...args] = [
      ...(surroundings.prefix ?? []),
      'sh',
      '-c',
      invocation.script,
      'sh',
      ...invocation.args,
    ];
    const changed = await watchFiles(tree, tests);
    // The result keeps only the beginning and the end of a long output.
    const output: Buffer[] = [];
    let bytes = 0;
    const collect = (chunk: Buffer) => {
      bytes += chunk.length;
      if (bytes <= REPORT_LIMIT) output.push(chunk);
    };
    const { reportsOnStdout } = invocation;
    const result = await sandbox.runCommand(program, args, {
      cwd: join(sandbox.workdir, below),
      env: { ...invocation.env, ROOT: sandbox.workdir },
      ...(!options.holdsLogs && { stdoutFile: log('stdout'), stderrFile: log('stderr') }),
      ...{ mask, signal },
      ...present({ timeoutMs: options.timeoutMs }),
      ...(reportsOnStdout && { onStdout: collect }),
    });
    // Code under test can put anything in the place of the report.
    const report = reportsOnStdout
      ? Buffer.concat(output).toString()
      : await readInTree(folder, 'report', REPORT_LIMIT);
    const folderName = basename(directory);
    return {
      result,
      async writeLogs() {
        if (!options.holdsLogs) return;
        await writeFile(log('stdout'), result.stdout);
        await writeFile(log('stderr'), result.stderr);
      },
      row: {
        command: shown(invocation, seen),
        exit_code: result.exitCode,
        duration_seconds: result.durationMs / 1000,
        ended: result.ended,
        stdout_path: `${folderName}/${name}.stdout.log`,
        stderr_path: `${folderName}/${name}.stderr.log`,
      },
      report: unlessChanged(
        await changed(),
        readReport(runner, {
          report,
          result,
          tree: sandbox.workdir,
          ...present({ order: surroundings.order }),
        }),
      ),
    };
  } finally {
    await removeTree(folder);
  }
}

/**
 * Whether a tree has settings of a runner, where the tests are or above, or options name some. What an agent added is not there
 * any more.
 */
async function hasSettings(
  tree: string,
  { directory = '', options, settings: asked }: TaskTests,
  { settings }: TestRunner,
): Promise<boolean> {
  if (asked !== undefined) return asked === 'tree';
  if (!settings || options.some((option) => /^(-c|--(no-)?(config|package|root|rootDir)\b.*)$/.test(option)))
    return true;
  for (const folder of [directory, ...parentPaths(directory), '']) {
    const names: string[] = await readdir(join(tree, folder)).catch(() => []);
    if (names.some((name) => settings.files.test(name))) return true;
    if (settings.key === undefined || !names.includes('package.json')) continue;
    const manifest = await readInTree(tree, join(folder, 'package.json'));
    if (manifest !== undefined && hasKey(manifest, settings.key)) return true;
  }
  return false;
}

/** Where it cannot be read, the runner says so. */
function hasKey(manifest: string, key: string): boolean {
  try {
    return Object.hasOwn(JSON.parse(manifest), key);
  } catch {
    return true;
  }
}

/** What was reported about tests that are not those of the task says nothing. */
function unlessChanged(path: string | undefined, report: TestReport): TestReport {
  if (path === undefined) return report;
  return { tests: new Map(), problems: [`${path} was changed while the tests ran`] };
}

function readReport(
  runner: TestRunner,
  {
    report,
    result,
    tree,
    ...asked
  }: { report: string | undefined; result: CommandResult; tree: string; order?: boolean },
): TestReport {
  if (result.ended !== 'exit')
    return withOutput({ tests: new Map(), problems: ['the runner was stopped before its end'] }, result);
  try {
    const read = runner.read({
      ...asked,
      report,
      relative: (path) => (path.startsWith(`${tree}/`) ? relative(tree, path) : path),
    });
    return withOutput(read, result);
  } catch (error) {
    // Code under test can write to the report as well.
    const problems = [`the report cannot be read: ${messageOf(error)}`];
    return withOutput({ ...NO_REPORT, problems }, result);
  }
}

/** Where no test was reported, the runner may have printed why. */
function withOutput(report: TestReport, result: CommandResult): TestReport {
  if (report.tests.size > 0) return report;
  const printed = lastLines(result);
  return printed.length === 0
    ? report
    : {
        ...report,
        problems: [...report.problems, `the runner's last lines: ${printed.join(' | ')}`],
      };
}

/** The command as a person would type it. */
function shown({ script, args }: Invocation, folder: string): string {
  const program = script.replace(/^.*exec /, '').replace(' "$@"', '');
  return [program, ...args.map((arg) => arg.replaceAll(folder, '<report>'))].join(' ');
}

/** What is wrong with a report, in one sentence; `undefined` if it shows that the tests have passed. */
export function problemOf(
  { mustPass, others }: Pick<TaskTests, 'mustPass' | 'others'>,
  { tests, counts, problems }: TestReport,
): string | undefined {
  const cause = problems.length > 0 ? `; ${problems.join('; ')}` : '';
  const lacking = mustPass.filter((id) => tests.get(id) !== 'passed');
  const [first] = lacking;
  if (first !== undefined) {
    const how = tests.get(first) ?? 'not run';
    return `${lacking.length} of ${mustPass.length} tests did not pass: ${first} (${how})${cause}`;
  }
  if (mustPass.length > 0 && problems.includes(ENDED_EARLY)) return ENDED_EARLY;
  if (!others) return undefined;
  const known = Map.groupBy([...mustPass, ...others], (id) => id);
  const surplus = [...tests.keys()].filter((id) => (counts?.get(id) ?? 1) > (known.get(id)?.length ?? 0));
  if (surplus.length === 0) return undefined;
  const [one = ''] = surplus;
  const what = known.has(one) ? 'ran more often than expected' : 'is not one of the tests of the task';
  return `${surplus.length} of ${tests.size} tests in the report are not expected: ${one} ${what}`;
}
