import { isIP } from 'node:net';
import { domainToASCII } from 'node:url';

/** A host that commands may reach. `below`: not the name itself, but each name below it. `port`: default 80 and 443. */
export type HostRule = { name: string; below: boolean; port?: number };

const DEFAULT_PORTS = [80, 443];
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** Reads `NAME`, `*.NAME` and either of them with `:PORT`. Returns why it is not one, if it is not. */
export function readHostRule(text: string): HostRule | { problem: string } {
  if (text.includes('/')) return { problem: 'is an address; write only the name of its host' };
  const [, star, written = '', digits] = /^(\*\.)?([^*:]+?)(?::(\d+))?$/.exec(text.trim()) ?? [];
  if (written === '') return { problem: 'is not a host name' };
  const port = digits === undefined ? undefined : Number(digits);
  if (port !== undefined && (port < 1 || port > 65_535)) return { problem: 'has a port that does not exist' };
  const name = hostName(written);
  if (isIP(name)) return { problem: 'is an IP address; only names can be listed' };
  const labels = name.split('.');
  if (name.length > 253 || !labels.every((label) => LABEL.test(label)))
    return { problem: 'is not a host name' };
  if (labels.at(-1) === 'localhost') return { problem: 'is this machine, which no listed host may be' };
  if (star && labels.length < 2) return { problem: 'is too much: name at least two parts after `*.`' };
  return { name, below: star !== undefined, ...(port !== undefined && { port }) };
}

/**
 * The rule that lets a command reach a host; `undefined`: none does. A name in full goes before one that is below another.
 */
export function ruleFor(rules: readonly HostRule[], host: string, port: number): HostRule | undefined {
  const name = hostName(host);
  const isOfPort = (rule: HostRule) => portsOf(rule).includes(port);
  const fitting = rules.filter(
    (rule) => isOfPort(rule) && (rule.below ? name.endsWith(`.${rule.name}`) : name === rule.name),
  );
  return fitting.find(({ below }) => !below) ?? fitting[0];
}

/** The ports that a rule is for. */
export const portsOf = ({ port }: HostRule): readonly number[] =>
  port === undefined ? DEFAULT_PORTS : [port];

/** In the form in which names are compared. Empty: it is none. */
const hostName = (text: string): string => domainToASCII(text.replace(/\.$/, '')).toLowerCase();
