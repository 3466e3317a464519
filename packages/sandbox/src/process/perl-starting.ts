/** The part of the launcher that starts programs. */
export const PERL_STARTING = String.raw`
# A process that was forked copies each page of memory that it writes, and that is most of what a program's start costs. So
# it calls few functions and uses descriptors in place of Perl's handles. Its variables are these, set before.
my ($program, $variables, $arguments, $environment, $file, @files);
my ($folder, $input, @outputs, $namespace, @sealing, @entered, $user, $common, $own, $view, $at, $inside);
my ($opened, $place, $report, $pid, $from, $failing) = (0) x 6;
my ($pair, $answer) = ("\0" x 8, "\0" x 4096);
my ($none, $root, $proc, $proc_path, $self, $started) = ('none', '/', 'proc', '/proc', '0', "started\n");

# The command sees of a common folder only its own one. That is covered then, but still reached by a descriptor.
sub hide {
  my $held;
  # MS_BIND; with MS_REC
  return open($held, '<', $own)
    && attach($view, $common, 0, 0x1000)
    && restrict($common, 1, 0)
    && attach('/proc/self/fd/' . fileno($held), $own, 0, 0x5000)
    && ($at eq '' || attach('/proc/self/fd/' . fileno($held), $at, 0, 0x5000))
    && chdir $folder;
}

# Of a contained program. Root's is started as the first process of its PID namespace; for others, this makes the namespace
# and waits for the first process.
sub contain {
  # Else nobody ends the namespace when the launcher is killed.
  syscall($prctl, 1, 9, 0, 0, 0);
  if ($common ne '') { $folder = $inside ne '' ? $inside : readlink '/proc/self/cwd' }
  my @stage = @sealing ? enter_user(shift @sealing) : ();
  if ($user) {
    my ($uid, $gid) = ($>, $) + 0);
    # CLONE_NEWPID, CLONE_NEWUSER
    syscall($unshare, 0x20000000 | (@stage ? 0 : 0x10000000)) == 0 or give_up('unshare');
    map_own_user($uid, $gid) if !@stage;
    my $first = fork;
    defined $first or give_up('fork');
    if ($first) {
      syscall($close, $report);
      waitpid $first, 0;
      kill $? & 127, $$ if $? & 127;
      end_with(status());
    }
    die_with_parent();
  }
  @stage ? lead_sealed(@stage) : &lead;
}

# Bubblewrap becomes the first process. It ends with the command, and all others with it.
sub lead_sealed {
  my @stage = @_;
  my ($door, $uid, $gid, @places) = @sealing;
  $door eq '' || syscall($setns, fileno($doors{$door} || give_up('door')), 0) == 0 or give_up('setns');
  move_in(@stage, @places);
  # What starts the command may fail, so the command reports its start itself.
  syscall($dup3, $report, 3, 0);
  become_user($uid, $gid) if $uid ne '';
  &become_program;
  # E2BIG
  $! == 7 ? fail_for('the arguments and the environment are too long') : give_up($file);
}

# The first process only has to outlive the command, send TERM to what is left, and wait a little.
sub lead {
  # CLONE_NEWNS
  syscall($unshare, 0x20000) == 0 or give_up('unshare');
  # Mounts made inside stay inside (MS_REC, MS_SLAVE), and no command keeps a workspace alive that is unmounted outside.
  syscall($mount, $none, $root, 0, 0x84000, 0) == 0 or give_up('mount');
  # MS_NOSUID, MS_NODEV, MS_NOEXEC
  syscall($mount, $proc, $proc_path, $proc, 0xe, 0) == 0 or give_up('mount /proc');
  $common eq '' || hide() or fail_for("the folders beside $own cannot be hidden");
  # O_CLOEXEC
  syscall($pipe2, $pair, 0x80000) == 0 or give_up('pipe');
  ($from, $failing) = unpack 'll', $pair;
  # SIGCHLD
  $pid = syscall($clone, 17, 0, 0, 0, 0);
  $pid >= 0 or give_up('fork');
  if (!$pid) {
    &become_program;
    my ($code, $reason) = ($! + 0, "$!");
    syscall($write, $failing, my $text = "$code ", length "$code ");
    syswrite STDERR, "$file: $reason\n" if $code != 7;
    end_with($code == 2 ? 127 : 126);
  }
  syscall($close, $failing);
  my $size = syscall($read, $from, $answer, 16);
  # E2BIG: it is not the command that failed.
  fail_for('the arguments and the environment are too long') if $size > 0 && substr($answer, 0, $size) == 7;
  syscall($write, $report, $started, length $started);
  my $ended;
  do { $ended = wait } until $ended == $pid || $ended < 0;
  my $status = status();
  syscall($write, $report, my $exited = "exited $status\n", 8 + length $status);
  # Standard output and error, too.
  syscall($close, $_) for $report, 1, 2;
  if (kill 'TERM', -1) {
    for (1 .. 40) {
      1 while waitpid(-1, 1) > 0;
      last unless kill 0, -1;
      select undef, undef, undef, 0.05;
    }
  }
  end_with($status);
}

# Returns only if the program could not be started, with the error of Perl's exec, which also runs scripts without a first
# line.
sub become_program {
  syscall($execve, $_, $arguments, $environment) for @files;
  my @texts = split /\0/, $program, -1;
  pop @texts;
  %ENV = map { /^(=?[^=]*)=(.*)$/s } splice @texts, 0, $variables;
  exec { $texts[0] } @texts;
}

# The code of spawn, and why.
sub refuse {
  my ($code, $why) = @_;
  my $text = "$code $why";
  syscall($write, $failing, $text, length $text);
  end_with(1);
}

# In the new process. It reports why it failed, or nothing, when another program runs.
sub become {
  syscall($setsid);
  for (@entered) {
    # O_WRONLY. 0 is the process that writes.
    ($opened = syscall($openat, -100, $_, 1, 0)) >= 0 && syscall($write, $opened, $self, 1) == 1 or refuse($! + 0, "$_: $!");
    syscall($close, $opened);
  }
  # The lowest descriptors are in use, so that none is opened at the place of another. O_CLOEXEC
  ($opened = syscall($openat, -100, $input, 0x80000, 0)) >= 0 or refuse(0, "a pipe could not be opened: $!");
  syscall($dup3, $opened, 0, 0);
  syscall($close, $opened);
  for (@outputs) {
    # O_WRONLY, O_CLOEXEC
    ($opened = syscall($openat, -100, $_, 0x80001, 0)) >= 0 or refuse(0, "a pipe could not be opened: $!");
    # A contained program does not get the pipe for reports.
    if (++$place == 3 && $namespace) { $report = $opened; last }
    syscall($dup3, $opened, $place, 0);
    syscall($close, $opened);
  }
  chdir $folder or refuse($! + 0, "$folder: $!");
  if ($namespace) {
    syscall($close, $failing);
    &contain;
  }
  &become_program;
  refuse($! + 0, "spawn $file: $!");
}

# What execve takes: addresses of the texts of a program. They are kept until the next program.
sub address_of { unpack 'Q', pack 'p', $_[0] }

my $addresses;
sub take_program {
  my ($count, $text) = @_;
  ($program, $variables) = ($text, $count);
  my ($first, $at, $end) = (address_of($program), 0);
  ($file, my $path) = ('', '/bin:/usr/bin');
  $addresses = $count ? '' : "\0" x 8;
  for (my $index = 0; ($end = index $program, "\0", $at) >= 0; $index++) {
    $addresses .= pack 'Q', $first + $at;
    $addresses .= "\0" x 8 if $index + 1 == $count;
    if ($index == $count) { $file = substr $program, $at, $end - $at }
    elsif ($index < $count && substr($program, $at, 5) eq 'PATH=') { $path = substr $program, $at + 5, $end - $at - 5 }
    $at = $end + 1;
  }
  $addresses .= "\0" x 8;
  $environment = address_of($addresses);
  $arguments = $environment + 8 * ($count + 1);
  @files = index($file, '/') >= 0 ? $file : map { $_ eq '' ? $file : "$_/$file" } split /:/, $path, -1;
}

sub start {
  (my ($id, $text), $folder, $input, my @rest) = @_;
  $input = '/dev/null' if $input eq '';
  @outputs = splice @rest, 0, shift @rest;
  ($namespace, $user, $common, $own, $view, $at, $inside) = splice @rest, 0, 7;
  @sealing = splice @rest, 0, shift @rest;
  my @into = splice @rest, 0, shift @rest;
  for (grep { exists $refused{$_} } @into) { return say_all($id, 'error', 0, $refused{$_}) }
  @groups{@into} = ();
  @entered = map { "$_/cgroup.procs" } @into;
  push @outputs, '/dev/null' while @outputs < 2;
  take_program($rest[0], $text);
  $place = 0;
  # O_CLOEXEC
  syscall($pipe2, $pair, 0x80000) == 0 or return say_all($id, 'error', $! + 0, "pipe: $!");
  (my $failure, $failing) = unpack 'll', $pair;
  # CLONE_NEWPID, SIGCHLD
  $pid = syscall($clone, $namespace && !$user ? 0x20000011 : 17, 0, 0, 0, 0);
  my $why = "fork: $!";
  my $code = $! + 0;
  if (!$pid) {
    syscall($close, $failure);
    &become;
  }
  syscall($close, $failing);
  if ($pid > 0) {
    my $size = syscall($read, $failure, $answer, 4096);
    $why = substr $answer, 0, $size < 0 ? 0 : $size;
  }
  syscall($close, $failure);
  return say_all($id, 'error', $code, $why) if $pid < 0;
  if ($why ne '') {
    waitpid $pid, 0;
    return say_all($id, 'error', $why);
  }
  say_all($id, 'pid', $pid);
  watch($id, $pid);
}

sub watch {
  my ($id, $pid) = @_;
  $running{syscall($pidfd_open, $pid, 0)} = [$id, $pid];
}
`;
