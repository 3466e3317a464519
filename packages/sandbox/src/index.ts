/**
 * The public surface of `@whetstone/sandbox`: where commands run. Start with `startSandboxProvider`, which makes
 * `Sandbox`es; `createMask` keeps secrets out of what they print. `@whetstone/sandbox/process` has the parts below:
 * process trees that end, and output that is bounded.
 */
export { createBubblewrapSandboxProvider } from './bubblewrap/bubblewrap-sandbox.ts';
export { hiddenLink } from './bubblewrap/hidden-link.ts';
export { unseenPaths } from './bubblewrap/visible-paths.ts';
export { nameOfBuild } from './docker/name-of-build.ts';
export { giveTree, inheritFolder, makeFolders, ownerOf } from './files/inherit-owner.ts';
export { filesBelow, readKeptFile } from './files/kept-files.ts';
export { removeTree, removeTrees } from './files/remove-tree.ts';
export { checkSafePath, isDeviceName, isGitFolder } from './files/safe-path.ts';
export {
  absoluteFiles,
  type ConfinedFiles,
  createConfinedFiles,
  entryUnder,
  isUnder,
  resolveUnder,
} from './files/sandbox-files.ts';
export { readTreeState, type TreeChange, type TreeState, treeChanges } from './files/tree-state.ts';
export type { HostRequest } from './hosts/host-proxy.ts';
export { readHostRule } from './hosts/host-rule.ts';
export { createMask, MASKED, type Mask, SHORTEST_SECRET, secretForms } from './mask.ts';
export { type AttackName, attacks, type Finding } from './probe/attacks.ts';
export { type ChosenSandbox, proveSandbox, strongestSandbox } from './probe/strongest-sandbox.ts';
export type { Owner } from './process/launcher-interface.ts';
export type { Limits, Usage } from './process/resource-group.ts';
export { limitsOf } from './process-sandbox/limits.ts';
export { createProcessSandboxProvider } from './process-sandbox/process-sandbox.ts';
export { inheritedEnvironment, isSecretName, sandboxPath } from './process-sandbox/scrubbed-environment.ts';
export { withoutNetwork } from './process-sandbox/without-network.ts';
export type {
  CommandResult,
  ContainerOptions,
  RunOptions,
  Sandbox,
  SandboxFile,
  SandboxLevel,
  SandboxProvider,
} from './sandbox.ts';
export { createSandboxRuntimeProvider } from './sandbox-runtime/runtime-sandbox.ts';
export { startSandboxProvider } from './start-sandbox-provider.ts';
