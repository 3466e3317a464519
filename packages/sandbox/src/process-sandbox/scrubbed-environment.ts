import { accessSync, constants, existsSync } from 'node:fs';
import { delimiter, isAbsolute, join } from 'node:path';

/** The folders of one sandbox, as its environment names them. */
export type SandboxFolders = { home: string; temporary: string; runtime: string };

/** Variables of the user's environment that a sandboxed command gets. It gets no others. */
const ALLOWED_NAMES = new Set([
  'LANG',
  'LANGUAGE',
  'TZ',
  'SHELL',
  'USER',
  'LOGNAME',
  'GOPATH',
  'GOROOT',
  'CARGO_HOME',
  'RUSTUP_HOME',
  'JAVA_HOME',
  'MAVEN_HOME',
  'GRADLE_HOME',
  'ANDROID_HOME',
  'DOTNET_ROOT',
  'NVM_DIR',
  'VOLTA_HOME',
  'FNM_DIR',
  'PYENV_ROOT',
  'RBENV_ROOT',
  'ASDF_DATA_DIR',
  'MISE_DATA_DIR',
  'SDKMAN_DIR',
  'BUN_INSTALL',
  'DENO_INSTALL',
  'PNPM_HOME',
  'SDKROOT',
  'DEVELOPER_DIR',
]);

/**
 * Version managers whose shims look for their data under HOME. The shims stay on PATH while HOME changes, so they would
 * find no version without these variables.
 */
const DATA_FOLDERS_UNDER_HOME: Readonly<Record<string, string>> = {
  RUSTUP_HOME: '.rustup',
  VOLTA_HOME: '.volta',
  PYENV_ROOT: '.pyenv',
  RBENV_ROOT: '.rbenv',
  ASDF_DATA_DIR: '.asdf',
  NVM_DIR: '.nvm',
  SDKMAN_DIR: '.sdkman',
};

const SECRET_NAME =
  /(?:^|_)(?:API)?(?:KEYS?|TOKENS?|SECRETS?|PASSWORDS?|PASSWD|PASS|CREDENTIALS?|CREDS?|AUTH|PRIVATE|COOKIES?|SESSION)(?:_|$)|(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?)$/i;

/** Shapes that only credentials have: provider keys, forge tokens, cloud keys, JWTs, PEM blocks, URL userinfo. */
const SECRET_VALUE =
  /\b(?:sk|pk|rk)-[\w-]{16,}|\bgh[pousr]_\w{20,}|\bgithub_pat_\w{20,}|\bglpat-[\w-]{16,}|\bxox[abposr]-[\w-]{10,}|\bA(?:KI|SI)A[0-9A-Z]{16}\b|\bAIza[\w-]{30,}|\beyJ[\w-]{10,}\.[\w-]{10,}|-----BEGIN |:\/\/[^/\s:@]+:[^/\s@]+@/;

/** Whether a variable looks like a credential by its name. */
export function isSecretName(name: string): boolean {
  return SECRET_NAME.test(name);
}

/**
 * The environment of a sandboxed command: what `inheritedEnvironment` takes of the user's, and the sandbox's own folders.
 */
export function sandboxEnvironment(
  inherited: Readonly<Record<string, string>>,
  { home, temporary, runtime }: SandboxFolders,
): Record<string, string> {
  return {
    ...inherited,
    TERM: 'dumb',
    HOME: home,
    TMPDIR: temporary,
    XDG_CONFIG_HOME: join(home, '.config'),
    XDG_CACHE_HOME: join(home, '.cache'),
    XDG_DATA_HOME: join(home, '.local', 'share'),
    XDG_STATE_HOME: join(home, '.local', 'state'),
    XDG_RUNTIME_DIR: runtime,
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: join(home, '.gitconfig'),
    GIT_TERMINAL_PROMPT: '0',
  };
}

/**
 * The allowed variables of `parent`, and PATH. A variable that looks secret by its name or its value is left out even if
 * it is allowed.
 */
export function inheritedEnvironment(parent: NodeJS.ProcessEnv): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const [name, value] of Object.entries(parent)) {
    if (value === undefined || !isAllowed(name) || isSecretName(name) || SECRET_VALUE.test(value)) continue;
    environment[name] = value;
  }
  for (const [name, folder] of Object.entries(DATA_FOLDERS_UNDER_HOME)) {
    const path = parent.HOME && join(parent.HOME, folder);
    if (path && environment[name] === undefined && existsSync(path)) environment[name] = path;
  }
  return { ...environment, PATH: sandboxPath(parent.PATH) };
}

function isAllowed(name: string): boolean {
  return ALLOWED_NAMES.has(name) || name.startsWith('LC_');
}

/**
 * The PATH on which an agent's program must be. It leaves out what npm scripts put in front (which would change the
 * `node` that a task's tests run with), relative entries (which would name folders that an agent writes), and folders
 * that may not be searched (for which a shell reports "permission denied" when a program is only missing).
 */
export function sandboxPath(path: string | undefined): string {
  const entries = (path ?? '').split(delimiter).filter(isPathEntry);
  return entries.length === 0 ? '/usr/local/bin:/usr/bin:/bin' : [...new Set(entries)].join(delimiter);
}

function isPathEntry(entry: string): boolean {
  if (!isAbsolute(entry) || /(?:^|\/)(?:node_modules\/\.bin|node-gyp-bin)(?:\/|$)/.test(entry)) return false;
  try {
    accessSync(entry, constants.X_OK);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'ENOENT';
  }
}
