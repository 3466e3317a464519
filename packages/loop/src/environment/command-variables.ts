import { looksSecret, namesOfKnownSecrets } from './secret-values.ts';

/**
 * Which of the host's environment variables a command sees (loop spec 4.2).
 * - `all`: every variable that does not look like a secret by its name or its value. The default.
 * - `core`: the allow-list only, without values that look like a secret.
 * - `none`: nothing of the host.
 */
export type EnvPolicy = 'all' | 'core' | 'none';

/** Names of secrets contain one of these. Suffix patterns would miss `AWS_SECRET_ACCESS_KEY` and `OPENAI_KEY`. */
const SECRET_NAME =
  /KEY|TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIAL|AUTH|PRIVATE|(?:^|_)(?:PAT|DSN|COOKIE)(?:_|$)/i;

const CORE_NAMES = new Set(
  [
    'PATH HOME USER LOGNAME SHELL LANG LANGUAGE TERM COLORTERM TZ TMPDIR TMP TEMP PWD HOSTNAME EDITOR PAGER CI',
    'NO_COLOR FORCE_COLOR GOPATH GOROOT GOCACHE CARGO_HOME RUSTUP_HOME NVM_DIR NODE_PATH PNPM_HOME BUN_INSTALL',
    'JAVA_HOME GRADLE_USER_HOME PYENV_ROOT VIRTUAL_ENV PYTHONPATH RBENV_ROOT GEM_HOME',
    'GIT_AUTHOR_NAME GIT_AUTHOR_EMAIL GIT_AUTHOR_DATE GIT_COMMITTER_NAME GIT_COMMITTER_EMAIL',
    'SYSTEMROOT COMSPEC PATHEXT WINDIR USERPROFILE APPDATA LOCALAPPDATA PROGRAMFILES',
  ].flatMap((names) => names.split(' ')),
);
const CORE_PREFIX = /^(?:LC_|XDG_)/;

/**
 * The variables of `host` that pass the policy. The allow-list beats the secret filter on names, never on values: a
 * credential passes under no name.
 */
export async function filterVariables(
  host: Readonly<Record<string, string | undefined>>,
  policy: EnvPolicy,
): Promise<Record<string, string>> {
  const passed: Record<string, string> = {};
  if (policy === 'none') return passed;
  for (const [name, value] of Object.entries(host)) {
    const core = CORE_NAMES.has(name.toUpperCase()) || CORE_PREFIX.test(name);
    if (value === undefined || looksSecret(name, value, core)) continue;
    if (core || (policy === 'all' && !SECRET_NAME.test(name))) passed[name] = value;
  }
  for (const name of await namesOfKnownSecrets(passed)) delete passed[name];
  return passed;
}
