/** The public surface of `@whetstone/sandbox`. */
export { CapturedOutput, KEPT_BYTES } from './captured-output.ts';
export { createMask, type Mask } from './mask.ts';
export { OutputFile } from './output-file.ts';
export { isAlive } from './process-alive.ts';
export { createProcessSandboxProvider } from './process-sandbox.ts';
export { removeTree, removeTrees } from './remove-tree.ts';
export { checkSafePath, isDeviceName, isGitFolder } from './safe-path.ts';
export type {
  CommandResult,
  RunOptions,
  Sandbox,
  SandboxFile,
  SandboxLevel,
  SandboxProvider,
} from './sandbox.ts';
export {
  absoluteFiles,
  type ConfinedFiles,
  createConfinedFiles,
  entryUnder,
  isUnder,
  resolveUnder,
} from './sandbox-files.ts';
export { isSecretName, sandboxPath } from './scrubbed-environment.ts';
export { startSandboxProvider } from './start-sandbox-provider.ts';
