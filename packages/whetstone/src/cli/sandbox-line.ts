import type { ChosenSandbox } from '@whetstone/sandbox';
import type { Config } from '../config/config.ts';
import { levelOf } from '../config/sandbox-facts.ts';
import { counted } from '../report/format.ts';
import type { SandboxShown } from '../run/run-event.ts';

/** The sandbox of a run in a line, with what was tried in it and why it is not a stronger one. */
export function sandboxLine({ provider, level, probes, reasons }: SandboxShown): string {
  const chosen = reasons === undefined ? '' : ' (auto)';
  const tried =
    probes === undefined
      ? ''
      : `: ${counted(probes.length, 'attack')} from inside were tried, and none came through`;
  return `${provider}, level ${level}${chosen}${tried}${because(reasons ?? [])}`;
}

/** `chosen`: absent where the configuration names the sandbox. */
export const plannedSandboxLine = (
  { sandbox }: Pick<Config, 'sandbox'>,
  chosen: ChosenSandbox | undefined,
): string => sandboxLine({ provider: sandbox.provider, level: levelOf(sandbox), ...chosen });

/** The same for programs. */
export const sandboxJson = ({ sandbox }: Pick<Config, 'sandbox'>, chosen: ChosenSandbox | undefined) => ({
  provider: sandbox.provider,
  level: levelOf(sandbox),
  ...(chosen && { auto: { reasons: chosen.reasons }, probes: chosen.probes }),
});

function because([first, ...more]: readonly string[]): string {
  if (first === undefined) return '';
  const rest = more.length === 0 ? '' : ` (and ${counted(more.length, 'more reason')})`;
  return `. Not sealed: ${first}${rest}`;
}
