import { PERL_DISK } from './perl-disk.ts';
import { PERL_DOORS } from './perl-doors.ts';
import { PERL_LOOKS } from './perl-looks.ts';
import { PERL_SEALING } from './perl-sealing.ts';
import { PERL_STARTING } from './perl-starting.ts';

/**
 * The launcher as a program for Perl, which nearly every Linux has: it makes the system calls for which Node would have to
 * start `mkfifo`, `setpriv`, `unshare` and `mount`, and it is small, so that a fork takes little. It reads messages from
 * standard input, each two lengths of four bytes, then texts with a NUL between them, and then those of a program, each with a
 * NUL at its end. It answers with lines, and ends at the end of its input. Its arguments are the numbers of the system calls in
 * `SYSTEM_CALLS`. Descriptor 3 is the channel on which Node takes open sockets from a child.
 */
export const PERL_LAUNCHER = String.raw`
my ($prctl, $unshare, $mount, $umount2, $dup3, $setsid, $mknodat, $setns, $pivot_root, $sendmsg, $exit_group, $clone, $unlinkat, $openat, $pipe2, $read, $write, $close, $execve, $statx) = @ARGV;
my ($pidfd_open, $mount_setattr) = (434, 442);
my (%running, $pending, %doors, %groups, %refused, %folders);
# What ps shows, also for the first process of a namespace.
$0 = 'init';
# Descriptors that the harness itself was given and did not close.
opendir my $descriptors, '/proc/self/fd';
for my $descriptor (grep { /^\d+$/ && $_ > 3 && $_ != fileno $descriptors } readdir $descriptors) {
  open my $closed, '<&=', $descriptor;
}
closedir $descriptors;
# A program that is started does not get it.
open my $channel, '+<&=', 3;

# Where Node was killed nobody reads it, and this process has to live on until it has cleaned up.
sub say_all {
  my $text = join ' ', @_;
  $text =~ tr/\n/ /;
  local $SIG{PIPE} = 'IGNORE';
  syswrite STDOUT, "$text\n";
}
sub status { $? & 127 ? 128 + ($? & 127) : $? >> 8 }
sub attach { my @given = @_; syscall($mount, @given, 0) == 0 }
sub die_with_parent { syscall($prctl, 1, 9, 0, 0, 0) }
# Without Perl's own end, which visits the whole memory and so copies it.
sub end_with { my ($code) = @_; syscall($exit_group, $code) }
sub fail_for { syswrite STDERR, "$_[0]\n"; end_with(1) }
sub give_up { fail_for("$_[0]: $!") }
sub put { my $file; open($file, '>', $_[0]) && syswrite($file, $_[1]) or give_up($_[0]) }

sub make_pipes {
  my ($folder, @paths) = @_;
  # Node has removed those that it has opened.
  delete @folders{grep { !-d } keys %folders};
  $folders{$folder} = 1;
  mkdir $folder, 0700 or return "mkdir: $!";
  for my $path (@paths) { syscall($mknodat, -100, my $copy = $path, 0010600, 0) == 0 or return "mkfifo: $!" }
  return '';
}

sub overlay {
  my ($folder, $options, $target) = @_;
  # The paths in the options are relative, because no escape in them is safe.
  my ($source, $type) = ('overlay', 'overlay');
  my $is_done = chdir($folder) && syscall($mount, $source, $target, $type, 0, $options) == 0;
  my $why = "mount: $!";
  chdir '/';
  return $is_done ? '' : $why;
}

sub bind_folder {
  my ($source, $target) = @_;
  # MS_BIND
  return attach($source, $target, 0, 0x1000) ? '' : "mount: $!";
}

# A mount that is still in use is hidden (MNT_DETACH) and ends with its last user, or stays as it is.
sub unmount {
  my ($target, $stays_in_use) = @_;
  return '' if syscall($umount2, $target, 0) == 0;
  return !$stays_in_use && syscall($umount2, $target, 2) == 0 ? '' : "umount: $!";
}

my $may_remove;

# Follows no link, and stops after a number of steps. Perl's own unlink looks at each file first where the user is root.
sub remove {
  my ($path) = @_;
  return 0 if $may_remove-- <= 0;
  return 1 if syscall($unlinkat, -100, $path, 0) == 0 || $! == 2;
  lstat $path;
  return 0 if !-d _;
  opendir my $folder, $path or return 0;
  my @names = grep { $_ ne '.' && $_ ne '..' } readdir $folder;
  closedir $folder;
  my $left = grep { !remove("$path/$_") } @names;
  return !$left && rmdir $path;
}

# In a process of its own only if it takes long, because a fork takes as long as removing a hundred files.
sub start_removing {
  my ($id, @paths) = @_;
  $may_remove = 100;
  @paths = grep { !remove($_) } @paths;
  return say_all($id, 'exit', 0) if !@paths;
  my $pid = fork;
  return say_all($id, 'error', $! + 0, "fork: $!") if !defined $pid;
  $may_remove = 1e15;
  end_with(grep({ !remove($_) } @paths) ? 1 : 0) if !$pid;
  watch($id, $pid);
}

# What is mounted on a folder is not touched by its removal.
sub clear {
  my ($id, @rest) = @_;
  my $why = '';
  for my $target (splice @rest, 0, shift @rest) { $why ||= unmount($target) }
  my @disk = splice @rest, 0, 3;
  $why ||= close_disk(@disk) if $disk[0] ne '';
  $why eq '' ? start_removing($id, @rest) : say_all($id, 'error', 0, $why);
}

sub map_own_user {
  my ($uid, $gid) = @_;
  put('/proc/self/setgroups', 'deny');
  put('/proc/self/uid_map', "$uid $uid 1");
  put('/proc/self/gid_map', "$gid $gid 1");
}

${PERL_SEALING}
${PERL_DOORS}
${PERL_DISK}
${PERL_LOOKS}

${PERL_STARTING}

# Nobody waits for an answer: a program that is to enter one of them is refused with what went wrong.
sub make_groups {
  my @made = splice @_, 0, shift;
  @groups{@made} = ();
  my $why = '';
  for my $folder (@made) { mkdir $folder or $why = "$folder: $!", last }
  while ($why eq '' && @_) {
    my ($path, $value, $is_optional) = splice @_, 0, 3;
    my $setting;
    open($setting, '>', $path) && syswrite($setting, $value) or $is_optional or $why = "$path: $!";
  }
  return if $why eq '';
  remove_groups(@made);
  @refused{@made} = ($why) x @made;
}

sub remove_groups {
  my @removed = grep { rmdir || $! == 2 } @_;
  delete @groups{@removed};
  delete @refused{@removed};
  return @removed < @_ ? 'in use' : '';
}

# The programs end with this process, and only then their groups can be removed. Node has removed those that it could.
sub end_with_node {
  for my $folder (keys %folders) { $may_remove = 100; remove($folder) }
  exit if !%groups || fork;
  close $_ for *STDIN, *STDOUT, *STDERR;
  # The programs of a group may take long to end on a busy machine: ten minutes at the most.
  for my $try (1 .. 3000) {
    for my $group (keys %groups) { delete $groups{$group} if rmdir $group or !-d $group }
    exit if !%groups;
    select undef, undef, undef, $try < 100 ? 0.02 : 0.2;
  }
  exit;
}

my %calls = (
  pipes => \&make_pipes, ungroup => \&remove_groups, overlay => \&overlay, bind => \&bind_folder, unmount => \&unmount,
  disk => \&open_disk, remember => \&remember, look => \&look_again, stage => \&open_stage, door => \&open_door,
  close => \&close_door,
);

for (;;) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for 0, defined $channel ? 3 : (), keys %running;
  next if select($ready, undef, undef, undef) < 0;
  for my $descriptor (keys %running) {
    next if !vec($ready, $descriptor, 1);
    my ($id, $pid) = @{delete $running{$descriptor}};
    syscall($close, $descriptor);
    waitpid $pid, 0;
    say_all($id, 'exit', status());
  }
  # Node answers there that it has a socket.
  if (defined $channel && vec $ready, 3, 1) { sysread $channel, my $answer, 65536 or undef $channel }
  next if !vec($ready, 0, 1);
  sysread(STDIN, $pending, 65536, length $pending) or end_with_node();
  while (length $pending >= 8) {
    my ($head, $tail) = unpack 'NN', $pending;
    last if length $pending < 8 + $head + $tail;
    my ($kind, $id, @rest) = split /\0/, substr($pending, 8, $head), -1;
    my $text = substr $pending, 8 + $head, $tail;
    substr($pending, 0, 8 + $head + $tail) = '';
    if ($kind eq 'start') { start($id, $text, @rest) }
    elsif ($kind eq 'group') { make_groups(@rest) }
    elsif ($kind eq 'remove') { start_removing($id, @rest) }
    elsif ($kind eq 'clear') { clear($id, @rest) }
    else { my $why = $calls{$kind}->(@rest); say_all($id, $why ? ('error', 0, $why) : ('exit', 0)) }
  }
}
`;

/** What Perl is started with. The launcher is its first message, so that its text is in no list of processes. */
export const PERL_START =
  'sysread STDIN, my $size, 4; my ($text, $length) = ("", unpack "N", $size); ' +
  'sysread(STDIN, $text, $length - length $text, length $text) || exit while length $text < $length; eval $text';

/**
 * The numbers of prctl, unshare, mount, umount2, dup3, setsid, mknodat, setns, pivot_root, sendmsg, exit_group, clone, unlinkat,
 * openat, pipe2, read, write, close and execve, by the name of the architecture in Node.
 */
export const SYSTEM_CALLS: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: [
    '157',
    '272',
    '165',
    '166',
    '292',
    '112',
    '259',
    '308',
    '155',
    '46',
    '231',
    '56',
    '263',
    '257',
    '293',
    '0',
    '1',
    '3',
    '59',
    '332',
  ],
  arm64: [
    '167',
    '97',
    '40',
    '39',
    '24',
    '157',
    '33',
    '268',
    '41',
    '211',
    '94',
    '220',
    '35',
    '56',
    '59',
    '63',
    '64',
    '57',
    '221',
    '291',
  ],
};
