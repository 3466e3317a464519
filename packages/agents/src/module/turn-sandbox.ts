import { present } from '@whetstone/events/present';
import { isSecretName, type RunOptions, type Sandbox } from '@whetstone/sandbox';
import { learnSecret } from '../kit/learned-secrets.ts';

/** The limits and the environment of the commands of one turn. */
type TurnRules = {
  /** Ends running commands when it fires. A command that starts later, for example to read a transcript, gets `graceMs`. */
  signal: AbortSignal;
  graceMs: number;
  /** For every command. The variables of a command override it. */
  env: Readonly<Record<string, string>>;
};

/** By sandbox: an adapter may use the sandbox object as a key, so every turn must get the same object. */
const known = new WeakMap<Sandbox, { rules: TurnRules; ruled: Sandbox }>();

/**
 * The sandbox that an adapter gets for one turn. Commands end at the time limit of the turn, even when the adapter passes
 * neither a signal nor a limit. Variables named like a secret are masked in everything that is kept.
 */
export function sandboxForTurn(sandbox: Sandbox, rules: TurnRules): Sandbox {
  const existing = known.get(sandbox);
  if (existing) {
    existing.rules = rules;
    return existing.ruled;
  }
  const commands: Pick<Sandbox, 'runCommand' | 'runShell'> = {
    runCommand: (command, args, options) =>
      sandbox.runCommand(command, args, ruledOptions(turn.rules, options)),
    runShell: (script, options) => sandbox.runShell(script, ruledOptions(turn.rules, options)),
  };
  // All else is the sandbox's own. Its methods may need private fields, so they stay bound to it.
  const ruled = new Proxy(sandbox, {
    get(_, name) {
      if (name === 'runCommand' || name === 'runShell') return commands[name];
      const member: unknown = Reflect.get(sandbox, name);
      return typeof member === 'function' ? member.bind(sandbox) : member;
    },
  });
  const turn = { rules, ruled };
  known.set(sandbox, turn);
  return ruled;
}

function ruledOptions({ signal, graceMs, env }: TurnRules, options: RunOptions = {}): RunOptions {
  const { signal: own, timeoutMs, ...rest } = options;
  for (const [name, value] of Object.entries(options.env ?? {})) if (isSecretName(name)) learnSecret(value);
  const merged = { ...rest, env: { ...env, ...options.env } };
  // A signal of the adapter has usually fired together with that of the turn, and would end this command at once.
  if (signal.aborted) return { ...merged, timeoutMs: Math.min(timeoutMs ?? graceMs, graceMs) };
  return {
    ...merged,
    signal: own ? AbortSignal.any([own, signal]) : signal,
    ...present({ timeoutMs }),
  };
}
