/**
 * Secrets that adapters show while they run: values of `requireEnv`, and variables named like a secret that they give to a
 * command. One list for the process, because the adapter of a user may import another copy of this package.
 */
type Learned = { secrets: Set<string>; listeners: Set<(secret: string) => void> };

const KEY = Symbol.for('whetstone.learned-secrets');
const shared = globalThis as { [KEY]?: Learned };

function learned(): Learned {
  shared[KEY] ??= { secrets: new Set(), listeners: new Set() };
  return shared[KEY];
}

export function learnSecret(secret: string): void {
  const { secrets, listeners } = learned();
  if (secrets.has(secret)) return;
  secrets.add(secret);
  for (const listener of listeners) listener(secret);
}

/** Calls `listener` for every secret that was or will be learned, until it is disposed. */
export function watchLearnedSecrets(listener: (secret: string) => void): Disposable {
  const { secrets, listeners } = learned();
  for (const secret of secrets) listener(secret);
  listeners.add(listener);
  return { [Symbol.dispose]: () => listeners.delete(listener) };
}
