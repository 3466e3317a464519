import { errorTable, messageOf, printable, WhetstoneError } from '@whetstone/errors';
import { ConfigErrors } from '../config/diagnostic.ts';
import type { Streams } from './streams.ts';
import { terminalColors } from './terminal-features.ts';

/** Prints an error on stderr, and with `json` also as a line of JSON on stdout. Returns the exit code of the error. */
export async function printError(error: unknown, { stderr, stdout }: Streams, json: boolean): Promise<2 | 3> {
  if (!(error instanceof WhetstoneError)) {
    if (json) printJson(new WhetstoneError('harness-defect', messageOf(error)), stdout);
    const detail = (error instanceof Error && error.stack) || messageOf(error);
    stderr.write(printable(`whetstone failed unexpectedly; please report this:\n${detail}\n`));
    return 3;
  }
  if (json) printJson(error, stdout);
  stderr.write(await errorText(error, terminalColors(stderr).isColorSupported));
  return error.exitCode;
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
