import { PERL_DISK } from './perl-disk.ts';
import { PERL_DOORS } from './perl-doors.ts';
import { PERL_SEALING } from './perl-sealing.ts';

/**
 * The launcher as a program for Perl, which nearly every Linux has: it makes the system calls for which Node would have to
 * start `mkfifo`, `setpriv`, `unshare` and `mount`, and it is small, so that a fork takes little. It reads messages from
 * standard input, each a length of four bytes and then texts with a NUL between them, and answers with lines. It ends at
 * the end of its input. Its arguments are the numbers of the system calls in `SYSTEM_CALLS`. Descriptor 3 is the channel on
 * which Node takes open sockets from a child.
 */
export const PERL_LAUNCHER = String.raw`
my ($prctl, $unshare, $mount, $umount2, $dup3, $setsid, $mknodat, $setns, $pivot_root, $sendmsg, $exit_group, $clone, $unlinkat) = @ARGV;
my ($pidfd_open, $mount_setattr) = (434, 442);
my (%running, $pending, %doors, %groups, %folders);
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
  my $text = join(' ', @_) . "\n";
  $text =~ s/\n(?=.)/ /g;
  local $SIG{PIPE} = 'IGNORE';
  syswrite STDOUT, $text;
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

# The command sees of a common folder only its own one. That is covered then, but still reached by a descriptor.
sub hide {
  my ($common, $own, $view, $at, $folder) = @_;
  my $held;
  # MS_BIND; with MS_REC
  return open($held, '<', $own)
    && attach($view, $common, 0, 0x1000)
    && restrict($common, 1, 0)
    && attach('/proc/self/fd/' . fileno($held), $own, 0, 0x5000)
    && ($at eq '' || attach('/proc/self/fd/' . fileno($held), $at, 0, 0x5000))
    && chdir $folder;
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

# Of a contained program. Root's is started as the first process of its PID namespace; for others, this makes the namespace
# and waits for the first process.
sub contain {
  my ($report, $sealing, $user, $common, $own, $view, $at, $inside, @command) = @_;
  my $folder = $inside ne '' ? $inside : readlink '/proc/self/cwd';
  # Else nobody ends the namespace when the launcher is killed.
  die_with_parent();
  my ($stage, @sealing) = @$sealing;
  my @stage = defined $stage ? enter_user($stage) : ();
  if ($user) {
    my ($uid, $gid) = ($>, $) + 0);
    # CLONE_NEWPID, CLONE_NEWUSER
    syscall($unshare, 0x20000000 | (@stage ? 0 : 0x10000000)) == 0 or give_up('unshare');
    map_own_user($uid, $gid) if !@stage;
    my $first = fork;
    defined $first or give_up('fork');
    if ($first) {
      close $report;
      waitpid $first, 0;
      kill $? & 127, $$ if $? & 127;
      end_with(status());
    }
    die_with_parent();
  }
  @stage ? lead_sealed($report, \@stage, \@sealing, @command) : lead($report, $folder, $common, $own, $view, $at, @command);
}

# Bubblewrap becomes the first process. It ends with the command, and all others with it.
sub lead_sealed {
  my ($report, $stage, $sealing, @command) = @_;
  my ($door, $uid, $gid, @place) = @$sealing;
  $door eq '' || syscall($setns, fileno($doors{$door} || give_up('door')), 0) == 0 or give_up('setns');
  move_in(@$stage, @place);
  # What starts the command may fail, so the command reports its start itself.
  syscall($dup3, fileno $report, 3, 0);
  become_user($uid, $gid) if $uid ne '';
  exec { $command[0] } @command;
  # E2BIG
  $! == 7 ? fail_for('the arguments and the environment are too long') : give_up($command[0]);
}

# The first process only has to outlive the command, send TERM to what is left, and wait a little.
sub lead {
  my ($report, $folder, $common, $own, $view, $at, @command) = @_;
  # CLONE_NEWNS
  syscall($unshare, 0x20000) == 0 or give_up('unshare');
  # Mounts made inside stay inside (MS_REC, MS_SLAVE), and no command keeps a workspace alive that is unmounted outside.
  attach('none', '/', 0, 0x84000) or give_up('mount');
  # MS_NOSUID, MS_NODEV, MS_NOEXEC
  attach('proc', '/proc', 'proc', 0xe) or give_up('mount /proc');
  $common eq '' || hide($common, $own, $view, $at, $folder) or fail_for("the folders beside $own cannot be hidden");
  pipe my $failure, my $failing;
  my $pid = fork;
  defined $pid or give_up('fork');
  if (!$pid) {
    close $report;
    exec { $command[0] } @command;
    my ($code, $reason) = ($! + 0, "$!");
    syswrite $failing, $code;
    syswrite STDERR, "$command[0]: $reason\n" if $code != 7;
    end_with($code == 2 ? 127 : 126);
  }
  close $failing;
  sysread $failure, my $why, 16;
  # E2BIG: it is not the command that failed.
  fail_for('the arguments and the environment are too long') if $why eq '7';
  syswrite $report, "started\n";
  my $ended;
  do { $ended = wait } until $ended == $pid || $ended < 0;
  my $status = status();
  syswrite $report, "exited $status\n";
  close $_ for $report, *STDOUT, *STDERR;
  if (kill 'TERM', -1) {
    for (1 .. 40) {
      1 while waitpid(-1, 1) > 0;
      last unless kill 0, -1;
      select undef, undef, undef, 0.05;
    }
  }
  end_with($status);
}

# In the new process: the code of spawn and why it failed, or nothing, when another program runs.
sub become {
  my ($failing, $folder, $input, $outputs, $variables, $namespace, $sealing, $groups, @command) = @_;
  my $refuse = sub { syswrite $failing, "$_[0] $_[1]"; end_with(1) };
  syscall($setsid);
  for my $group (@$groups) {
    my $members;
    # 0 is the process that writes.
    open($members, '>', "$group/cgroup.procs") && syswrite($members, '0') or $refuse->($! + 0, "$group: $!");
  }
  open STDIN, '<', $input eq '' ? '/dev/null' : $input or $refuse->(0, "a pipe could not be opened: $!");
  # Opened before any is put at its place, which may be the place of another.
  my @opened;
  for my $path (map { $$outputs[$_] // '/dev/null' } 0 .. ($#$outputs > 1 ? $#$outputs : 1)) {
    open my $pipe, '>', $path or $refuse->(0, "a pipe could not be opened: $!");
    push @opened, $pipe;
  }
  chdir $folder or $refuse->($! + 0, "$folder: $!");
  if ($$namespace[0] ne '') {
    my ($stdout, $stderr, $report) = @opened;
    open STDOUT, '>&', $stdout;
    open STDERR, '>&', $stderr;
    close $_ for $stdout, $stderr, $failing;
    %ENV = @$variables;
    contain($report, $sealing, @$namespace[1 .. 6], @command);
  }
  if (fileno($failing) <= @opened) {
    # Not where a descriptor of the program goes.
    open my $moved, '>&', $failing;
    $failing = $moved;
  }
  for my $index (0 .. $#opened) {
    my $place = $index + 1;
    if (fileno($opened[$index]) == $place) {
      # dup3 refuses equal numbers, and does not clear the flag that closes it.
      open my $copy, '>&', $opened[$index];
      $opened[$index] = $copy;
    }
    syscall($dup3, fileno($opened[$index]), $place, 0);
  }
  %ENV = @$variables;
  exec { $command[0] } @command;
  $refuse->($! + 0, "spawn $command[0]: $!");
}

sub start {
  my ($id, $folder, $input, @rest) = @_;
  my @outputs = splice @rest, 0, shift @rest;
  my @variables = splice @rest, 0, shift @rest;
  my @namespace = splice @rest, 0, 7;
  my @sealing = splice @rest, 0, shift @rest;
  my @groups = splice @rest, 0, shift @rest;
  @groups{@groups} = ();
  pipe my $failure, my $failing;
  # CLONE_NEWPID, SIGCHLD
  my $pid = $namespace[0] ne '' && !$namespace[1] ? syscall($clone, 0x20000011, 0, 0, 0, 0) : fork // -1;
  return say_all($id, 'error', $! + 0, "fork: $!") if $pid < 0;
  if (!$pid) {
    close $failure;
    become($failing, $folder, $input, \@outputs, \@variables, \@namespace, \@sealing, \@groups, @rest);
  }
  close $failing;
  sysread $failure, my $why, 4096;
  if ($why ne '') {
    waitpid $pid, 0;
    return say_all($id, 'error', $why);
  }
  say_all($id, 'pid', $pid);
  watch($id, $pid);
}

sub watch {
  my ($id, $pid) = @_;
  my $descriptor = syscall($pidfd_open, $pid, 0);
  open my $handle, '<&=', $descriptor;
  $running{$descriptor} = [$id, $pid, $handle];
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
  pipes => \&make_pipes, overlay => \&overlay, unmount => \&unmount, disk => \&open_disk,
  undisk => \&close_disk, stage => \&open_stage, door => \&open_door, close => \&close_door,
);

for (;;) {
  my $ready = '';
  vec($ready, $_, 1) = 1 for 0, defined $channel ? 3 : (), keys %running;
  next if select($ready, undef, undef, undef) < 0;
  for my $descriptor (keys %running) {
    next if !vec($ready, $descriptor, 1);
    my ($id, $pid) = @{delete $running{$descriptor}};
    waitpid $pid, 0;
    say_all($id, 'exit', status());
  }
  # Node answers there that it has a socket.
  if (defined $channel && vec $ready, 3, 1) { sysread $channel, my $answer, 65536 or undef $channel }
  next if !vec($ready, 0, 1);
  sysread(STDIN, $pending, 65536, length $pending) or end_with_node();
  while (length $pending >= 4 && length $pending >= 4 + (my $length = unpack 'N', $pending)) {
    my ($kind, $id, @rest) = split /\0/, substr($pending, 4, $length), -1;
    substr($pending, 0, 4 + $length) = '';
    if ($kind eq 'start') { start($id, @rest) }
    elsif ($kind eq 'hold') { @groups{@rest} = () }
    elsif ($kind eq 'remove') { start_removing($id, @rest) }
    else { my $why = $calls{$kind}->(@rest); say_all($id, $why ? ('error', 0, $why) : ('exit', 0)) }
  }
}
`;

/** What Perl is started with. The launcher is its first message, so that its text is in no list of processes. */
export const PERL_START =
  'sysread STDIN, my $size, 4; my ($text, $length) = ("", unpack "N", $size); ' +
  'sysread(STDIN, $text, $length - length $text, length $text) || exit while length $text < $length; eval $text';

/**
 * The numbers of prctl, unshare, mount, umount2, dup3, setsid, mknodat, setns, pivot_root, sendmsg, exit_group, clone and unlinkat, by the name of the
 * architecture in Node.
 */
export const SYSTEM_CALLS: Partial<Record<NodeJS.Architecture, readonly string[]>> = {
  x64: ['157', '272', '165', '166', '292', '112', '259', '308', '155', '46', '231', '56', '263'],
  arm64: ['167', '97', '40', '39', '24', '157', '33', '268', '41', '211', '94', '220', '35'],
};
