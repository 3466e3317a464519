import type { Limits } from '../process/resource-group.ts';

/** What a hostile command tries, and how a person reads that it came through. */
export const attacks = {
  'system-secrets': 'read the password hashes of this machine',
  harness: 'see the process of Whetstone, and with it its environment',
  memory: 'read the memory of the process of Whetstone',
  signals: 'send a signal to the process of Whetstone, and so end it',
  home: 'read files of your home folder',
  'other-cases': 'read the folder of another case',
  'kept-files': 'read the run directory, the hidden tests or the trees of the cases',
  'write-outside': 'write outside of its own folder',
  tcp: 'connect to a server of this machine by TCP',
  udp: 'send UDP, and so DNS queries, to this machine',
  'abstract-sockets': 'connect to an abstract socket of this machine',
  routes: 'reach other machines',
  namespaces: 'make namespaces of its own, and be root in them',
  'process-bomb': 'start more processes than its limit',
  'memory-bomb': 'take more memory than its limit',
} as const;

export type AttackName = keyof typeof attacks;

/**
 * What comes through where commands only have a process tree, a home and an environment of their own. `docs/security.md`
 * is made of what really does, and has to be the same. `hasNamespaces`: whether the system allows them.
 */
export function reachableFrom(
  processes: 'pid-namespace' | 'descendants',
  isRoot: boolean,
  limits: Limits,
  hasNamespaces = processes === 'pid-namespace',
): AttackName[] {
  const isTogether = processes === 'descendants';
  const blocked: Partial<Record<AttackName, boolean>> = {
    'system-secrets': !isRoot,
    harness: !isRoot && !isTogether,
    'other-cases': !isTogether,
    memory: !isRoot && !isTogether,
    // In a PID namespace it has no number.
    signals: !isTogether,
    namespaces: !hasNamespaces,
    'process-bomb': limits.processes !== undefined,
    'memory-bomb': limits.memoryBytes !== undefined,
  };
  return (Object.keys(attacks) as AttackName[]).filter((attack) => !blocked[attack]);
}

/** `reached`: whether a command of the sandbox did it. */
export type Finding = { attack: AttackName; reached: boolean };

/**
 * Tries what it can from inside, and prints the name of each attack that came through. Arguments: how many processes and
 * bytes are too many, 0 where no limit is claimed, whether `/proc` may be unmounted, the process id and the start time of Whetstone (empty where
 * there is no `/proc`), the ports of servers for TCP and UDP, an abstract
 * socket, a place to write to, a file of another case, how many paths follow that are not of the home, these, and those of the
 * home. What the sockets get, their owner sees.
 */
export const ATTACKS = String.raw`
use Socket;
my ($too_many, $too_much, $can_unmount, $pid, $started, $tcp, $udp, $abstract, $outside, $other, $count, @paths) = @ARGV;
my @kept = splice @paths, 0, $count;
sub reads {
  my $path = shift;
  if (-d $path) { opendir my $folder, $path or return 0; return scalar grep { !/^\.\.?$/ } readdir $folder }
  open my $file, '<', $path or return 0;
  return defined readline $file;
}
sub connected {
  my ($family, $type, $address) = @_;
  socket my $made, $family, $type, 0 or return 0;
  return connect($made, $address) && $made;
}
sub sees_harness {
  open my $file, '<', "/proc/$pid/stat" or return 0;
  my $text = readline $file;
  $text =~ s/^.*\) //s;
  return (split / /, $text)[19] eq $started;
}
# A byte of the program itself.
sub reads_memory {
  open my $maps, '<', "/proc/$pid/maps" or return 0;
  my ($start) = (readline($maps) // '') =~ /^([0-9a-f]+)/ or return 0;
  open my $memory, '<', "/proc/$pid/mem" or return 0;
  return sysseek($memory, hex $start, 0) && sysread $memory, my $byte, 1;
}
# Children that wait, until one cannot be started.
sub starts_too_many {
  my @children;
  for (1 .. $too_many) {
    my $child = fork // last;
    $child or do { sleep 60; exit };
    push @children, $child;
  }
  kill 'KILL', @children;
  waitpid $_, 0 for @children;
  return @children == $too_many;
}
sub takes_too_much {
  my $child = fork // return 0;
  $child or do { my $text = 'x' x $too_much; exit(length $text == $too_much ? 0 : 1) };
  waitpid $child, 0;
  return $? == 0;
}
my $is_known = $too_many && starts_too_many();
# Root can take away what covers the real /proc.
system 'umount /proc 2>/dev/null' if $can_unmount;
my %reached = (
  'system-secrets' => reads('/etc/shadow') || reads('/etc/master.passwd'),
  harness => sees_harness(),
  memory => sees_harness() && !!reads_memory(),
  # The number alone can be that of another process, but where all processes are seen by their numbers.
  signals => (sees_harness() || $started eq '') && kill(0, $pid) == 1,
  home => scalar(grep { reads($_) } @paths),
  'other-cases' => reads($other),
  'kept-files' => scalar(grep { reads($_) } @kept),
  'write-outside' => do { open(my $file, '>', $outside); 0 },
  tcp => !!connected(AF_INET, SOCK_STREAM, pack_sockaddr_in($tcp, inet_aton('127.0.0.1'))),
  'abstract-sockets' => !!connected(AF_UNIX, SOCK_STREAM, pack('S a*', AF_UNIX, "\0$abstract")),
  routes => !!connected(AF_INET, SOCK_DGRAM, pack_sockaddr_in(53, inet_aton('192.0.2.1'))),
  namespaces => system('unshare -Ur true 2>/dev/null') == 0,
  'process-bomb' => $is_known,
  'memory-bomb' => $too_much && takes_too_much(),
);
if (my $sender = connected(AF_INET, SOCK_DGRAM, pack_sockaddr_in($udp, inet_aton('127.0.0.1')))) { send $sender, 'x', 0 }
print "$_\n" for grep { $reached{$_} } keys %reached;
print "done\n";
`;
