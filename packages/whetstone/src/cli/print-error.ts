import { WhetstoneError } from '@whetstone/errors';
import { terminalColors } from './terminal-features.ts';

/** Prints an error for a person and returns the exit code that goes with it. */
export async function printError(error: unknown, stderr: NodeJS.WriteStream): Promise<2 | 3> {
  if (!(error instanceof WhetstoneError)) {
    const detail = error instanceof Error ? (error.stack ?? error.message) : String(error);
    stderr.write(`whetstone failed in a way it should not: please report this.\n${detail}\n`);
    return 3;
  }
  stderr.write(`${await formatError(error, stderr)}\n`);
  return error.exitCode;
}

async function formatError(error: WhetstoneError, stderr: NodeJS.WriteStream): Promise<string> {
  if (error.code === 'config-invalid') {
    const { ConfigErrors } = await import('../config/diagnostic.ts');
    const { formatDiagnostics } = await import('../config/format-diagnostics.ts');
    const color = terminalColors(stderr).isColorSupported;
    if (error instanceof ConfigErrors) return formatDiagnostics(error.diagnostics, { color });
  }
  const lines = [`${error.where ? `${error.where}: ` : ''}${error.message}`];
  if (error.hint) lines.push(`  ${error.hint}`);
  return lines.join('\n');
}
