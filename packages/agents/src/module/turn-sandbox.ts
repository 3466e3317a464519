import { present } from '@whetstone/events/present';
import type { RunOptions, Sandbox } from '@whetstone/sandbox';

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

/** An adapter's sandbox for one turn. Commands end at the turn's time limit, even without a signal or a limit. */
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
  const merged = { ...rest, env: { ...env, ...options.env } };
  // A signal of the adapter has usually fired together with that of the turn, and would end this command at once.
  if (signal.aborted) return { ...merged, timeoutMs: Math.min(timeoutMs ?? graceMs, graceMs) };
  return {
    ...merged,
    signal: own ? AbortSignal.any([own, signal]) : signal,
    ...present({ timeoutMs }),
  };
}
