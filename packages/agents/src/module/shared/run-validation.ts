import { join } from 'node:path';
import type { Sandbox, SandboxFile } from '@whetstone/sandbox';
import { textTail } from '../../kit/text-tail.ts';
import { removeO11yContext } from './o11y-context.ts';
import { hiddenFiles } from './prepare-workspace.ts';

const LIMIT_MS = 10 * 60_000;
const OUTPUT_BYTES = 64 * 1024;
const VITEST_CONFIG = '.validation.vitest.config.mjs';
const TEST_FILE = /^EVAL\.\w+$|\.(?:test|spec)\.\w+$/;

export type ValidationMode = 'vitest' | 'none';

export type ValidationResult = { passed: boolean; checks: ValidationCheck[] };

export type ValidationCheck = {
  /** `vitest`, or the name of an npm script. */
  name: string;
  passed: boolean;
  exitCode: number;
  /** The end of stdout and stderr: at most 64 KiB. */
  output: string;
};

/**
 * Puts the files that `prepareWorkspace` hid into the workspace, runs Vitest in mode `vitest` (on the hidden tests, or on
 * those of the project when none are hidden) and then the npm scripts, and removes the files again. Vitest is that of the
 * project; nothing is downloaded.
 *
 * The result is only information for the adapter, because the checks run where the agent worked. The verdict of a case
 * comes from the clean room.
 */
export async function runValidation(
  sandbox: Sandbox,
  scripts: readonly string[] = [],
  mode: ValidationMode = 'vitest',
): Promise<ValidationResult> {
  const tests = hiddenFiles(sandbox);
  const replaced = await readAll(sandbox, tests);
  const checks: ValidationCheck[] = [];
  try {
    await sandbox.uploadFiles([...tests]);
    if (mode === 'vitest') checks.push(await runVitest(sandbox, tests));
    for (const script of scripts) {
      checks.push(await check(sandbox, script, ['npm', 'run', '--silent', script]));
    }
  } finally {
    await restore(sandbox, tests, replaced);
    await removeO11yContext(sandbox);
  }
  return { passed: checks.every(({ passed }) => passed), checks };
}

async function runVitest(sandbox: Sandbox, tests: readonly SandboxFile[]): Promise<ValidationCheck> {
  const include = tests.map(({ path }) => path).filter((path) => TEST_FILE.test(path));
  const vitest = ['npx', '--no', '--', 'vitest', 'run'];
  if (include.length === 0) return check(sandbox, 'vitest', vitest);
  // Vitest does not take an `EVAL.ts` for a test by its name, and its command line has no option for that.
  const test = { include: include.map(escapeGlob), cache: false, fsModuleCache: false };
  const config = JSON.stringify({ test });
  await sandbox.writeFiles({ [`~/${VITEST_CONFIG}`]: `export default ${config};\n` });
  const configFile = join(sandbox.home, VITEST_CONFIG);
  return check(sandbox, 'vitest', [...vitest, '--root', sandbox.workdir, '--config', configFile]);
}

async function check(
  sandbox: Sandbox,
  name: string,
  [program = '', ...args]: string[],
): Promise<ValidationCheck> {
  const options = { cwd: sandbox.workdir, env: { CI: '1' }, timeoutMs: LIMIT_MS };
  const { exitCode, ended, stdout, stderr } = await sandbox.runCommand(program, args, options);
  const output = textTail([stdout, stderr].filter((text) => text !== '').join('\n'), OUTPUT_BYTES);
  return { name, passed: ended === 'exit' && exitCode === 0, exitCode, output };
}

/** The files that are where the hidden files go: an agent may have written files of the same names. */
async function readAll(sandbox: Sandbox, files: readonly SandboxFile[]): Promise<SandboxFile[]> {
  const found: SandboxFile[] = [];
  for (const { path } of files) {
    const content = await sandbox.readBytes(path).catch(() => undefined);
    if (content) found.push({ path, content });
  }
  return found;
}

async function restore(
  sandbox: Sandbox,
  placed: readonly SandboxFile[],
  replaced: readonly SandboxFile[],
): Promise<void> {
  const added = placed.filter(({ path }) => !replaced.some((file) => file.path === path));
  if (added.length > 0) {
    await sandbox.runCommand('rm', ['-f', '--', ...added.map(({ path }) => path)], { cwd: sandbox.workdir });
  }
  await sandbox.uploadFiles([...replaced]);
}

const escapeGlob = (path: string): string => path.replaceAll(/[\\()[\]{}!*?+@|]/g, '\\$&');
