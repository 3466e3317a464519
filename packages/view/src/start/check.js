/**
 * What `whetstone validate-config --json` prints, as far as the page uses it.
 * @typedef {{ severity: 'error' | 'warning', file: string, line?: number, column?: number, path: string, message: string, hint?: string }} Diagnostic
 * @typedef {{ valid: boolean, diagnostics: Diagnostic[], agents?: { name: string, kind: string }[], tasks?: string[],
 *   variants?: string[], baseline?: string, executables?: { path: (string | number)[], executable?: string, kind: string, file?: string, reason?: string }[] }} Check
 */

export {};
