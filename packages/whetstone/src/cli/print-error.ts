import { errorTable, messageOf, WhetstoneError } from '@whetstone/errors';
import { ConfigErrors } from '../config/diagnostic.ts';
import { terminalColors } from './terminal-features.ts';

type Output = {
  stderr: NodeJS.WriteStream;
  stdout: NodeJS.WritableStream;
  /** The command was called with `--json`: a program reads its stdout. */
  json: boolean;
};

/** Prints an error for a person, and as a line of JSON for a program. Returns the exit code that goes with it. */
export async function printError(error: unknown, { stderr, stdout, json }: Output): Promise<2 | 3> {
  if (!(error instanceof WhetstoneError)) {
    const detail = (error instanceof Error && error.stack) || messageOf(error);
    stderr.write(`whetstone failed unexpectedly; please report this:\n${detail}\n`);
    return 3;
  }
  const fix = error.hint ?? errorTable[error.code].fix;
  if (json) stdout.write(`${JSON.stringify({ error: asJson(error, fix) })}\n`);
  const said =
    error instanceof ConfigErrors
      ? await formatConfigErrors(error, stderr)
      : `${error.where === undefined ? '' : `${error.where}: `}${error.message}\n  ${fix}\n`;
  stderr.write(`${said}  More: whetstone errors ${error.code}\n`);
  return error.exitCode;
}

function asJson(error: WhetstoneError, fix: string): Record<string, unknown> {
  return {
    code: error.code,
    class: error.class,
    message: error.message,
    where: error.where ?? null,
    hint: fix,
    exit_code: error.exitCode,
    ...(error instanceof ConfigErrors && { diagnostics: error.diagnostics }),
  };
}

async function formatConfigErrors(
  { diagnostics }: ConfigErrors,
  stderr: NodeJS.WriteStream,
): Promise<string> {
  const { formatDiagnostics } = await import('../config/format-diagnostics.ts');
  return `${formatDiagnostics(diagnostics, { color: terminalColors(stderr).isColorSupported })}\n`;
}
