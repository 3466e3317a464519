import type { PolicyRequest, PolicyRule, RuleConditions } from './policy.ts';
import { fitsPath, type RealPath } from './real-path.ts';
import type { ScriptCommand } from './script-commands.ts';
import { fits, mayFit, UNKNOWN } from './text-pattern.ts';

/** What of a request a rule decides: a command of a script, a path, a host, or the request as such. */
export type Aspect =
  | { kind: 'command'; command: ScriptCommand }
  /** A script that could not be read to its end. */
  | { kind: 'unread' }
  | { kind: 'path'; path: RealPath }
  | { kind: 'host'; host: string }
  | { kind: 'request' };

/** A request with what it touches. */
export type Facts = {
  kind: PolicyRequest['kind'];
  tool?: string;
  paths: readonly RealPath[];
  hosts: readonly string[];
  /** A real path. */
  workdir: string;
};

/**
 * The first rule that decides an aspect. To allow, a rule has to be about the aspect, and each of its conditions has to
 * hold whatever the shell would replace; to deny, it is enough that they may hold.
 */
export const decidingRule = (
  aspect: Aspect,
  facts: Facts,
  rules: readonly PolicyRule[],
): PolicyRule | undefined =>
  rules.find((rule) =>
    'allow' in rule ? allows(rule.allow, aspect, facts) : denies(rule.deny, aspect, facts),
  );

function allows({ kind, tool, command, path, host }: RuleConditions, aspect: Aspect, facts: Facts): boolean {
  const { workdir } = facts;
  if (kind !== undefined && kind !== facts.kind) return false;
  if (tool !== undefined && (facts.tool === undefined || !fits(tool, facts.tool))) return false;
  const isAny = command === undefined || command === '*';
  switch (aspect.kind) {
    case 'command':
      if (path !== undefined || (command === undefined && kind === undefined && host === undefined))
        return false;
      if (command !== undefined && !fits(command, written(aspect.command))) return false;
      return host === undefined || hostsHold(host, [...facts.hosts, ...hostsIn(aspect.command)]);
    case 'unread':
      return (
        isAny && (command !== undefined || kind !== undefined) && path === undefined && host === undefined
      );
    case 'path': {
      const real = aspect.path.real;
      if (path !== undefined) return command === undefined && fitsPath(path, real, workdir, false);
      return kind !== undefined && [tool, command, host].every((condition) => condition === undefined);
    }
    case 'host':
      return host !== undefined && command === undefined && fits(host, aspect.host);
    case 'request':
      if (command !== undefined) return false;
      if (path !== undefined && !facts.paths.every(({ real }) => fitsPath(path, real, workdir, false)))
        return false;
      if (path !== undefined && facts.paths.length === 0) return false;
      return host === undefined || hostsHold(host, facts.hosts);
  }
}

const hostsHold = (pattern: string, hosts: readonly string[]): boolean =>
  hosts.length > 0 && hosts.every((host) => fits(pattern, host));

function denies({ kind, tool, command, path, host }: RuleConditions, aspect: Aspect, facts: Facts): boolean {
  if (kind !== undefined && kind !== facts.kind) return false;
  if (tool !== undefined && (facts.tool === undefined || !fits(tool.toLowerCase(), facts.tool.toLowerCase())))
    return false;
  const isPath = (each: RealPath): boolean =>
    path !== undefined && [each.written, each.real].some((one) => fitsPath(path, one, facts.workdir, true));
  switch (aspect.kind) {
    case 'command': {
      const { words, writes } = aspect.command;
      if (command !== undefined && !readings(aspect.command).some((text) => mayFit(command, text)))
        return false;
      if (
        host !== undefined &&
        ![...facts.hosts, ...hostsIn(aspect.command)].some((each) => mayFit(host, each))
      )
        return false;
      // The paths among the words are those of the facts.
      if (path !== undefined)
        return facts.paths.some(isPath) || [...words, ...writes].some((word) => word.includes(UNKNOWN));
      return true;
    }
    case 'unread':
      return facts.kind === 'command';
    case 'path':
      return command === undefined && host === undefined && (path === undefined || isPath(aspect.path));
    case 'host':
      return (
        command === undefined &&
        path === undefined &&
        (host === undefined || mayFit(host.toLowerCase(), aspect.host))
      );
    case 'request':
      if (command !== undefined) return false;
      if (path !== undefined && !facts.paths.some(isPath)) return false;
      return host === undefined || facts.hosts.some((each) => mayFit(host.toLowerCase(), each));
  }
}

/** A command as a rule sees it. A word with a blank in it is quoted, so that it is not taken for two. */
const written = ({ words }: ScriptCommand): string =>
  words.map((word) => (/\s/.test(word) || word === '' ? JSON.stringify(word) : word)).join(' ');

/** The ways to read a command: as it is, without assignments, and by the name of its program without its folder. */
function readings({ words, program: first }: ScriptCommand): string[] {
  const bare = words.slice(first);
  const [program = '', ...rest] = bare;
  const name = program.slice(program.lastIndexOf('/') + 1);
  return [words, bare, [name, ...rest]].map((each) => each.join(' '));
}

/** The hosts of the addresses in a command. */
export function hostsIn({ words }: ScriptCommand): string[] {
  return words.flatMap((word) => {
    if (!/:\/\//.test(word)) return [];
    if (word.includes(UNKNOWN)) return [UNKNOWN];
    return hostOf(word.slice(word.search(/[a-z][a-z+.-]*:\/\//i))) ?? [];
  });
}

/** The host of an address or of `host:port`, as the network understands it: `0x7f.1` is `127.0.0.1`. */
export function hostOf(address: string): string | undefined {
  const url = URL.parse(/:\/\//.test(address) ? address.replace(/^[^:]+/, 'http') : `http://${address}`);
  return url?.hostname.replace(/\.$/, '').toLowerCase();
}
