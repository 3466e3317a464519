import { WhetstoneError } from '@whetstone/errors';
import { isSecretName } from '@whetstone/sandbox';

export type AgentEnvironment = {
  env: Record<string, string>;
  /** Values of `${NAME}` and of variables named like a secret. They are masked in every log and artifact. */
  secrets: string[];
};

/** Replaces `${NAME}` in `env`. `env-missing` names every variable that is missing or empty, and `owner`. */
export function resolveAgentEnv(
  env: Readonly<Record<string, string>>,
  userEnvironment: NodeJS.ProcessEnv,
  owner: { what: string; where: string } = { what: 'The agent', where: 'env' },
): AgentEnvironment {
  const secrets = new Set<string>();
  const missing = new Set<string>();
  const resolved = Object.entries(env).map(([name, template]) => {
    const value = template.replaceAll(/\$\{([A-Za-z_]\w*)\}/g, (_, variable: string) => {
      const found = userEnvironment[variable];
      if (found) secrets.add(found);
      else missing.add(variable);
      return found ?? '';
    });
    if (isSecretName(name)) secrets.add(value);
    return [name, value];
  });
  const names = [...missing];
  if (names.length === 0) return { env: Object.fromEntries(resolved), secrets: [...secrets] };
  throw new WhetstoneError(
    'env-missing',
    `${owner.what} needs ${names.join(', ')}, which your environment does not set.`,
    { where: owner.where, hint: `Set it first, for example: export ${names[0]}=…` },
  );
}
