import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/** Addresses in ranges of others at which clouds answer a machine of theirs about itself. */
const METADATA = ['168.63.129.16', '100.100.100.200', 'fd00:ec2::254'];

/** Of networks that are not the internet's. Somebody who names a host in full there means it. */
const PRIVATE = ['private', 'uniqueLocal', 'carrierGradeNat'];

/**
 * Why a command may not connect to an address, as words after "it is"; `undefined`: it may. Only addresses of the internet
 * are let through, and those of private networks with `isNamedInFull`. Forms of IPv6 that stand for an address of IPv4 are
 * none of both. `own`: the addresses of this machine.
 */
export function refusedAddress(
  address: string,
  { isNamedInFull, own = ownAddresses() }: { isNamedInFull: boolean; own?: readonly string[] },
): string | undefined {
  // The zone of a link-local address.
  const read = ipaddr.parse(address.replace(/%.*$/, ''));
  const text = read.toNormalizedString();
  const isOneOf = (list: readonly string[]) =>
    list.some((one) => ipaddr.parse(one.replace(/%.*$/, '')).toNormalizedString() === text);
  if (isOneOf(METADATA)) return 'where a cloud answers about this machine';
  if (isOneOf(own)) return 'this machine';
  const range = read.range();
  if (range === 'unicast') return undefined;
  if (PRIVATE.includes(range))
    return isNamedInFull ? undefined : 'in a private network, for which its name has to be listed in full';
  return `not of the internet (${range})`;
}

const ownAddresses = (): string[] =>
  Object.values(networkInterfaces()).flatMap((list) => (list ?? []).map(({ address }) => address));
