/** The longest text that a program can be given: MAX_ARG_STRLEN of Linux, with the NUL at its end. */
const LONGEST_TEXT = 128 * 1024 - 1;

/**
 * Checks arguments and variables as the kernel would.
 * @throws Error with the `code` of `spawn`
 */
export function assertTexts(texts: readonly string[]): void {
  if (texts.some((text) => text.includes('\0')))
    throw withCode('ERR_INVALID_ARG_VALUE', 'a program cannot be given null bytes');
  if (texts.some((text) => text.length > LONGEST_TEXT / 3 && Buffer.byteLength(text) > LONGEST_TEXT))
    throw withCode('E2BIG', 'spawn E2BIG');
}

const withCode = (code: string, message: string): Error => Object.assign(new Error(message), { code });
