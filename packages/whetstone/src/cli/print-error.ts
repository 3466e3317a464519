import { dirname } from 'node:path';
import { getSystemErrorMap } from 'node:util';
import { errorTable, firstError, messageOf, printable, WhetstoneError } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import { ConfigErrors } from '../config/diagnostic.ts';
import type { Streams } from './streams.ts';
import { terminalColors } from './terminal-features.ts';

/** Prints an error on stderr, and with `json` also as a line of JSON on stdout. Returns the exit code of the error. */
export async function printError(
  thrown: unknown,
  { stderr, stdout }: Streams,
  json: boolean,
): Promise<2 | 3> {
  const error = firstError(thrown);
  const known = errorOfSystem(error) ?? error;
  if (!(known instanceof WhetstoneError)) {
    if (json) printJson(new WhetstoneError('harness-defect', messageOf(error)), stdout);
    const detail = (error instanceof Error && error.stack) || messageOf(error);
    stderr.write(printable(`whetstone failed unexpectedly; please report this:\n${detail}\n`));
    return 3;
  }
  if (json) printJson(known, stdout);
  stderr.write(await errorText(known, terminalColors(stderr).isColorSupported));
  return known.exitCode;
}

/** What no defect of Whetstone causes: a person has to mend the path, its rights, its disk or the limits of the shell. */
const REFUSALS = ['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EISDIR', 'ELOOP', 'ENAMETOOLONG'];

/** What to do where a limit of the shell or of the machine is reached. */
const LIMITS: Readonly<Record<string, string>> = {
  EMFILE: 'Let a process open more files: ulimit -n 4096',
  ENFILE: 'The machine has no room for another open file: end programs that hold many of them.',
  EFBIG: 'Let a process write larger files: ulimit -f unlimited',
};

/** The error of a path that the system refuses, wherever it was used; `undefined` for an error of another kind. */
function errorOfSystem(cause: unknown): WhetstoneError | undefined {
  if (cause instanceof WhetstoneError || !(cause instanceof Error)) return undefined;
  const { code = '', errno, syscall, path } = cause as NodeJS.ErrnoException;
  if (path === undefined || syscall === undefined || errno === undefined) return undefined;
  const full = ['ENOSPC', 'EDQUOT'].includes(code);
  // In a folder of the system, such as `/proc`, no folder can be made, and in place of a file neither.
  const isMaking = syscall === 'mkdir' || syscall === 'mkdtemp';
  const hasNoPlace = isMaking && ['ENOENT', 'EEXIST'].includes(code);
  if (!full && !REFUSALS.includes(code) && !LIMITS[code] && !hasNoPlace) return undefined;
  const [, said] = getSystemErrorMap().get(errno) ?? [];
  const hint = LIMITS[code];
  const what = hint === undefined ? 'The system refuses this path' : 'A limit is reached';
  const message = `${what}: ${said} (${code}, ${syscall}).`;
  const where = syscall === 'mkdtemp' ? dirname(path) : path;
  return new WhetstoneError(full ? 'disk-full' : 'path-refused', message, {
    ...{ where, cause },
    ...present({ hint }),
  });
}

/** Prints an error of commander, whose text is already on stderr, as a line of JSON. */
export function printUsageError({ message }: Error, { stdout }: Pick<Streams, 'stdout'>): void {
  printJson(new WhetstoneError('command-line-invalid', message.replace(/^error: /, '')), stdout);
}

const printJson = (error: WhetstoneError, stdout: Streams['stdout']): void =>
  void stdout.write(`${JSON.stringify({ error: errorJson(error) })}\n`);

/** What happened, where, and what to do about it: several lines. */
export async function errorText(error: WhetstoneError, color: boolean): Promise<string> {
  const said =
    error instanceof ConfigErrors
      ? await formatConfigErrors(error, color)
      : printable(
          `${error.where === undefined ? '' : `${error.where}: `}${error.message}\n  ${fixOf(error)}\n`,
        );
  return `${said}  More: whetstone errors ${error.code}\n`;
}

const fixOf = ({ hint, code }: WhetstoneError): string => hint ?? errorTable[code].fix;

/** An error as `--json` prints it. */
export function errorJson(error: WhetstoneError): Record<string, unknown> {
  return {
    code: error.code,
    class: error.class,
    message: error.message,
    where: error.where ?? null,
    hint: fixOf(error),
    exit_code: error.exitCode,
    ...(error instanceof ConfigErrors && { diagnostics: error.diagnostics }),
  };
}

async function formatConfigErrors({ diagnostics }: ConfigErrors, color: boolean): Promise<string> {
  const { formatDiagnostics } = await import('../config/format-diagnostics.ts');
  return `${formatDiagnostics(diagnostics, { color })}\n`;
}
