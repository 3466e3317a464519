/** What the kept rules leave out: forms that no provider's name says, and keys of model providers. */
const SECRET_FORMS: readonly RegExp[] = [
  // `scheme://user:password@host`, and a token in place of the user.
  /\w:\/\/[^/\s:@]*:[^/\s@]+@/,
  /\w:\/\/[\w.~%+-]{20,}@/,
  /[?&](?:[\w-]*(?:token|secret|password|signature|api_?key)|sig|key)=[^&\s]{8,}/i,
  /(?:^|;)\s*(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)=[^;]{4,}/i,
  /-----BEGIN [A-Z0-9 ]*PRIVATE KEY/,
  /\beyJ[\w-]{8,}\.eyJ[\w-]{4,}\./,
  /\b(?:sk|pk|rk)-[\w-]{20,}|\b(?:xai|pplx|fw|key)-[A-Za-z0-9]{20,}|\bgsk_\w{20,}|\br8_\w{20,}/,
  /\bAIza[\w-]{30,}|\bya29\.[\w-]{20,}|\b(?:AKIA|ASIA)[A-Z0-9]{16}\b/,
];

/** Names that a secret often has, and other things too: the value decides. */
const SUSPICIOUS_NAME =
  /PASS|PWD|PHRASE|SALT|SEED|MNEMONIC|SIGN|WEBHOOK|BEARER|JWT|SESSION|ACCESS|API|CERT|HASH|CODE/i;

/** Whether a variable looks like a credential by its value, or by its value together with its name. */
export function looksSecret(name: string, value: string, isKnownName: boolean): boolean {
  if (SECRET_FORMS.some((form) => form.test(value))) return true;
  return !isKnownName && SUSPICIOUS_NAME.test(name) && looksRandom(value);
}

const LEAST_LENGTH = 16;
/** Bits per character. Words in a natural language have less, random letters and digits have more. */
const LEAST_ENTROPY = 3.3;

function looksRandom(value: string): boolean {
  const isToken = /^[\w+=.-][\w+/=.-]*$/.test(value) && /\d/.test(value) && /[A-Za-z]/.test(value);
  return isToken && value.length >= LEAST_LENGTH && entropyOf(value) >= LEAST_ENTROPY;
}

function entropyOf(text: string): number {
  const counts = Map.groupBy(text, (character) => character).values();
  return [...counts].reduce(
    (sum, { length }) => sum - (length / text.length) * Math.log2(length / text.length),
    0,
  );
}

/** Tokens of providers are at least so long. */
const TOKEN = /[A-Za-z0-9_+/-]{16,}/;

/**
 * The names of the variables whose value has the form of a known provider's credential, by the rules of secretlint. They
 * are loaded only where a value could be one.
 */
export async function namesOfKnownSecrets(variables: Readonly<Record<string, string>>): Promise<string[]> {
  const candidates = Object.entries(variables).filter(
    ([, value]) => TOKEN.test(value) && !/^[~.]?\//.test(value),
  );
  if (candidates.length === 0) return [];
  const [{ lintSource }, { creator }] = await Promise.all([
    import('@secretlint/core'),
    import('@secretlint/secretlint-rule-preset-recommend'),
  ]);
  const rule = { id: '@secretlint/secretlint-rule-preset-recommend', rule: creator, options: {} };
  const found = await Promise.all(
    candidates.map(async ([name, content]) => {
      const source = { filePath: name, content, contentType: 'text' as const };
      const { messages } = await lintSource({
        source,
        options: { noPhysicFilePath: true, config: { rules: [rule] } },
      });
      return messages.length > 0 ? [name] : [];
    }),
  );
  return found.flat();
}
