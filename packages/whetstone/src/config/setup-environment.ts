import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { resolveAgentEnv } from '@whetstone/agents/evaluator';
import type { EnvironmentConfig, TaskConfig } from './config.ts';

/**
 * What the setup of a task gets from the user's environment, and which values of it must be masked.
 * @throws WhetstoneError `env-missing` if `setup_env` refers to a variable that is not set.
 */
export function setupEnvironment(
  task: Pick<TaskConfig, 'id' | 'setup' | 'setupEnv'>,
  user: NodeJS.ProcessEnv,
): Variables {
  if (task.setup.length === 0) return { env: {}, secrets: [] };
  return installEnvironment(task.setupEnv ?? {}, user, {
    what: `The setup of task ${task.id}`,
    where: `tasks[${task.id}].setup_env`,
  });
}

/** The same for `environment.prepare`. */
export function prepareEnvironment(
  config: EnvironmentConfig | undefined,
  user: NodeJS.ProcessEnv,
): Variables {
  if (!config) return { env: {}, secrets: [] };
  return installEnvironment(config.env ?? {}, user, { what: 'The environment', where: 'environment.env' });
}

type Variables = { env: Record<string, string>; secrets: string[] };

function installEnvironment(
  named: Record<string, string>,
  user: NodeJS.ProcessEnv,
  owner: { what: string; where: string },
): Variables {
  const own = resolveAgentEnv(named, user, owner);
  const machine = installationVariables(user);
  const files = Object.entries(machine).filter(([name]) => FILE_NAMES.test(name));
  const credentials = [
    ...Object.values(machine).flatMap(inAddresses),
    ...files.flatMap(([, path]) => credentialsIn(path, user)),
  ];
  return { env: { ...machine, ...own.env }, secrets: [...own.secrets, ...credentials] };
}

/** Variables that name a file in which a package manager keeps credentials. */
const FILE_NAMES = /^(?:npm_config_(?:user|global)config|pip_config_file)$/i;

/** The credentials of the addresses in a text: `user:password` and the password. */
const inAddresses = (text: string): string[] =>
  [...text.matchAll(/:\/\/([^/\s@:]*:?([^/\s@]*))@/g)].flatMap(([, whole, password]) =>
    [whole, password].flatMap((part) => part || []),
  );

/** What a file of npm or pip says of credentials. npm also keeps them in Base64. */
function credentialsIn(path: string, user: NodeJS.ProcessEnv): string[] {
  const text = readText(path).replace(/\$\{(\w+)\}/g, (_, name: string) => user[name] ?? '');
  const tokens = [...text.matchAll(/(?:_authToken|_auth|_password)\s*=\s*"?([^"\s]+)/g)].flatMap(
    ([, token = '']) => {
      const decoded = Buffer.from(token, 'base64').toString();
      return [token, ...(/^[\x20-\x7e]+$/.test(decoded) ? [decoded, decoded.replace(/^[^:]*:/, '')] : [])];
    },
  );
  return [...tokens, ...inAddresses(text)];
}

/** Empty where the file cannot be read: then the package manager cannot, either. */
function readText(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}

/** Variables that name a file or a folder, with which a package manager reaches its registry. */
export const INSTALLATION_FILES: readonly string[] = [
  ...['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'REQUESTS_CA_BUNDLE', 'CURL_CA_BUNDLE', 'GIT_SSL_CAINFO'],
  ...['NPM_CONFIG_USERCONFIG', 'NPM_CONFIG_GLOBALCONFIG', 'NPM_CONFIG_CAFILE', 'PIP_CERT', 'PIP_CONFIG_FILE'],
  // Where packages are may be a folder.
  ...['PIP_INDEX_URL', 'PIP_EXTRA_INDEX_URL', 'PIP_FIND_LINKS', 'GOPROXY'],
  ...['UV_INDEX_URL', 'UV_DEFAULT_INDEX', 'UV_EXTRA_INDEX_URL', 'UV_FIND_LINKS'],
].flatMap((name) => [name, name.toLowerCase()]);

/** Where package managers find proxies, certificates, registries and their own files. */
const INSTALLATION_NAMES =
  /^(?:(?:https?|all|no|ftp)_proxy|node_extra_ca_certs|ssl_cert_(?:file|dir)|(?:requests|curl)_ca_bundle|git_ssl_cainfo|npm_config_(?:registry|userconfig|globalconfig|cafile|strict_ssl|(?:https_?)?proxy|noproxy)|yarn_(?:npm_registry_server|registry)|pip_(?:index_url|extra_index_url|find_links|trusted_host|cert|config_file|proxy)|uv_(?:index_url|default_index|extra_index_url|find_links)|goproxy|cargo_registries_\w+_index)$/i;

const FILES_AT_HOME: readonly (readonly [variable: string, files: readonly string[]])[] = [
  ['NPM_CONFIG_USERCONFIG', ['.npmrc']],
  ['PIP_CONFIG_FILE', ['.config/pip/pip.conf', '.pip/pip.conf']],
];

function installationVariables(user: NodeJS.ProcessEnv): Record<string, string> {
  const found: Record<string, string> = {};
  for (const [variable, files] of FILES_AT_HOME) {
    const paths = files.map((file) => join(user.HOME ?? '/nonexistent', file));
    const file = paths.find((path) => existsSync(path));
    if (file !== undefined) found[variable] = file;
  }
  for (const [name, value] of Object.entries(user)) {
    if (value !== undefined && value !== '' && INSTALLATION_NAMES.test(name)) found[name] = value;
  }
  return { ...foldersOfPip(found), ...found };
}

/** What the settings of pip say of packages in folders, as the variables that mean the same. */
function foldersOfPip({ PIP_CONFIG_FILE: own }: Record<string, string>): Record<string, string> {
  const text = ['/etc/pip.conf', own ?? ''].map(readText).join('\n');
  const found: Record<string, string> = {};
  // The last one counts.
  for (const [, name = '', value = ''] of text.matchAll(
    /^(index-url|extra-index-url|find-links)[ \t]*=[ \t]*(.*(?:\n[ \t]+.*)*)/gm,
  ))
    if (/(?:^|\s)(?:file:\/\/)?\//.test(value))
      found[`PIP_${name.replaceAll('-', '_').toUpperCase()}`] = value.split(/\s+/).filter(Boolean).join(' ');
  return found;
}
