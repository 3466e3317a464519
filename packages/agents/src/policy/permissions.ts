/**
 * What an agent may use, as separate options (provider taxonomy, "Workspace and Side Effects"). One option never opens
 * another: full access to the file system does not open the network.
 */
export type Permissions = {
  /** `workspace`: it may write in its workspace only. It may read more, unless its page says otherwise. */
  filesystem: 'read-only' | 'workspace' | 'full';
  /** `ask`: the policy decides about each command. */
  shell: 'off' | 'ask' | 'allow';
  /** Of the commands and tools that the agent runs. Its model is always reachable. */
  network: 'off' | 'open';
  /** Plugins and app connectors that the agent brings or finds by itself. Those of a variant are always given. */
  apps: 'off' | 'allow';
  /** `minimal`: PATH, locale and what the agent needs. `inherit`: also the user's own environment, keys included. */
  environment: 'minimal' | 'inherit';
};

/** For agents that are asked through a protocol: nothing leaves the workspace, and each command is asked for. */
export const safePermissions: Permissions = {
  filesystem: 'workspace',
  shell: 'ask',
  network: 'off',
  apps: 'off',
  environment: 'minimal',
};
