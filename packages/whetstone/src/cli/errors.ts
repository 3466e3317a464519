import { type ErrorCode, type ErrorEntry, errorTable, exitCodes, WhetstoneError } from '@whetstone/errors';
import { didYouMean } from '@whetstone/errors/did-you-mean';

/** Prints what is documented about an error code, or one line per code. */
export function errorsCommand(
  code: string | undefined,
  { json = false }: { json?: boolean },
  { stdout }: { stdout: NodeJS.WritableStream },
): 0 {
  const print = (value: unknown, text: string) =>
    stdout.write(json ? `${JSON.stringify(value, null, 2)}\n` : text);
  if (code === undefined) {
    const entries = Object.entries(errorTable).sort(([a], [b]) => (a < b ? -1 : 1)) as [
      ErrorCode,
      ErrorEntry,
    ][];
    const width = Math.max(...entries.map(([name]) => name.length));
    print(
      entries.map(([name]) => describe(name)),
      entries.map(([name, { meaning }]) => `${name.padEnd(width)}  ${meaning}\n`).join(''),
    );
    return 0;
  }
  if (!isErrorCode(code)) throw unknownCode(code);
  const entry = describe(code);
  print(
    entry,
    `${code} (class ${entry.class}, exit code ${entry.exit_code})\n  ${entry.meaning}\n  ${entry.fix}\n`,
  );
  return 0;
}

function describe(code: ErrorCode) {
  const { class: errorClass, meaning, fix } = errorTable[code];
  return { code, class: errorClass, exit_code: exitCodes[errorClass], meaning, fix };
}

const isErrorCode = (word: string): word is ErrorCode => Object.hasOwn(errorTable, word);

function unknownCode(word: string): WhetstoneError {
  const meant = didYouMean(word, Object.keys(errorTable));
  return new WhetstoneError('error-code-unknown', `There is no error code "${word}".`, {
    hint: meant && `Did you mean ${meant}? \`whetstone errors\` lists the codes.`,
  });
}
