import { expect, test } from 'vitest';
import { refusedAddress } from './refused-address.ts';

const own = ['192.168.7.7', 'fe80::7%eth0', '203.0.114.9'];

test.each(['93.184.215.14', '2606:4700::1111'])(
  'the address %s of the internet is let through',
  (address) => {
    expect(refusedAddress(address, { isNamedInFull: false, own })).toBeUndefined();
  },
);

test.each(['10.1.2.3', '172.16.0.1', '192.168.1.1', '100.64.0.1', 'fd12::1'])(
  'the private address %s needs a name in full',
  (address) => {
    expect(refusedAddress(address, { isNamedInFull: false, own })).toMatch(/^in a private network/);
    expect(refusedAddress(address, { isNamedInFull: true, own })).toBeUndefined();
  },
);

test.each([
  ...['127.0.0.1', '127.9.9.9', '0.0.0.0', '::1', '::', '::ffff:127.0.0.1', '::ffff:10.0.0.1', '::127.0.0.1'],
  ...['::ffff:0:7f00:1', '64:ff9b::7f00:1', '64:ff9b:1::a00:1', '2002:7f00:1::', '2001:0:7f00:1::'],
  ...['169.254.169.254', '169.254.1.1', 'fe80::1%eth0', 'fd00:ec2::254', '100.100.100.200', '168.63.129.16'],
  ...['224.0.0.1', '255.255.255.255', '240.0.0.1', '192.0.0.192', 'ff02::1', 'fec0::1', '2001:db8::1'],
  ...own,
])('the address %s is refused, whatever is listed', (address) => {
  expect(refusedAddress(address, { isNamedInFull: true, own })).toMatch(/\w/);
});
