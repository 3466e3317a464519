/**
 * The part of the launcher that makes roots of their own. What all commands of a provider see is mounted once, in a mount
 * namespace that is kept: a stage. A command gets a copy of it, and in the copy its own folders.
 */
export const PERL_SEALING = String.raw`
my ($open_tree, $move_mount, $fsopen, $fsconfig, $fsmount) = (428 .. 432);
my %stages;

# In a process that ends: makes namespaces. Returns why not, or nothing, and the namespaces, which need no process.
sub hold {
  my ($make, @kinds) = @_;
  pipe my $ready, my $is_ready;
  pipe my $wait, my $go;
  my $pid = fork;
  return "fork: $!" if !defined $pid;
  if (!$pid) {
    close $_ for $ready, $go;
    open STDERR, '>&', $is_ready;
    $make->();
    syswrite $is_ready, 'ok';
    sysread $wait, my $nothing, 1;
    end_with(0);
  }
  close $_ for $is_ready, $wait;
  sysread $ready, my $why, 4096;
  my @namespaces;
  if ($why eq 'ok') {
    for my $kind (@kinds) {
      open my $namespace, '<', "/proc/$pid/ns/$kind" or $why = "ns/$kind: $!";
      push @namespaces, $namespace;
    }
  }
  close $go;
  waitpid $pid, 0;
  return $why eq 'ok' ? ('', @namespaces) : $why || 'it ended';
}

sub mount_memory {
  my ($target, $options) = @_;
  my $type = 'tmpfs';
  # MS_NOSUID, MS_NODEV
  syscall($mount, $type, $target, $type, 6, $options) == 0 or give_up("mount $target");
}

sub mount_terminals {
  my ($target) = @_;
  my ($type, $options) = ('devpts', 'newinstance,ptmxmode=0666,mode=620');
  # MS_NOSUID, MS_NOEXEC
  syscall($mount, $type, $target, $type, 0xa, $options) == 0 or give_up("mount $target");
}

# For a whole tree with AT_RECURSIVE. The attributes of a mount have the numbers of MS_RDONLY, MS_NOSUID and MS_NODEV.
sub restrict {
  my ($path, $what, $flags) = @_;
  my $attributes = pack 'Q4', $what, 0, 0, 0;
  return 1 if syscall($mount_setattr, -100, $path, $flags, $attributes, 32) == 0;
  # Before Linux 5.12, mount by mount (MS_BIND, MS_REMOUNT).
  open my $mounts, '<', '/proc/self/mountinfo' or return 0;
  my @paths = map { (split / /)[4] =~ s/\\(\d{3})/chr oct $1/ger } <$mounts>;
  return !grep { ($_ eq $path || $flags && index($_, "$path/") == 0) && !attach('none', $_, 0, 0x1020 | $what) } @paths;
}

sub make_place {
  my ($path, $is_folder) = @_;
  my $parent = '';
  for my $name (grep { length } split m{/}, $path =~ s{[^/]+$}{}r) { mkdir $parent .= "/$name" }
  return mkdir $path if $is_folder;
  open my $file, '>>', $path if !-l $path;
}

# Makes a small root in which nothing is but what the list names: triples of what, where, and a source. Then everything else
# of this machine is detached.
sub build_root {
  my ($stage, @list) = @_;
  umask 022;
  mount_memory($stage, 'mode=0755,size=4m');
  while (my ($kind, $path, $source) = splice @list, 0, 3) {
    my $target = $stage . $path;
    if ($kind eq 'link') {
      make_place($target =~ s{/[^/]*$}{}r, 1);
      symlink $source, $target or give_up($path);
      next;
    }
    make_place($target, $kind eq 'folder' || -d $source);
    next if $kind ne 'see';
    # MS_BIND, MS_REC
    attach($source, $target, 0, 0x5000) && restrict($target, -c $source ? 1 : 7, 0x8000) or give_up("bind $source");
  }
  # The old root is put over the new one, and then detached (MNT_DETACH).
  my $here = '.';
  chdir $stage && syscall($pivot_root, $here, $here) == 0 && syscall($umount2, $here, 2) == 0
    or give_up('pivot_root');
}

# Ends the stages whose folders are gone.
sub open_stage {
  my ($folder, $user, @list) = @_;
  delete @stages{grep { !-d } keys %stages};
  my ($why, @namespaces) = hold(sub {
    my ($uid, $gid) = ($>, $) + 0);
    # CLONE_NEWNS, CLONE_NEWUSER
    syscall($unshare, 0x20000 | ($user ? 0x10000000 : 0)) == 0 or give_up('unshare');
    map_own_user($uid, $gid) if $user;
    # MS_REC, MS_SLAVE
    attach('none', '/', 0, 0x84000) or give_up('mount');
    build_root($folder, @list);
  }, 'mnt', ('user') x !!$user);
  $stages{$folder} = \@namespaces if !$why;
  return $why;
}

# Gets the rights over a stage, if that takes a user namespace. Returns its namespaces.
sub enter_user {
  my ($root, $user) = @{$stages{$_[0]} || give_up('stage')};
  !$user || syscall($setns, fileno $user, 0) == 0 or give_up('setns');
  return ($root, $user);
}

sub is_empty { opendir my $folder, $_[0] or return 0; return !grep { $_ ne '.' && $_ ne '..' } readdir $folder }

# The memory of a stage is one for all commands, so a place in it gets memory of its own first: else its name would be seen
# by all. Returns what has to be locked.
sub make_own_place {
  my ($path, $is_folder) = @_;
  my ($at, @names) = ('', grep { length } split m{/}, $path);
  $at .= '/' . shift @names while @names && -e "$at/$names[0]";
  return if !@names;
  my @own;
  if ((stat "$at/")[0] == (stat '/')[0]) {
    if ($at eq '' || !is_empty($at)) {
      mkdir $at .= '/' . shift @names;
      return if !@names;
    }
    mount_memory($at, 'mode=0755,size=1m');
    push @own, $at;
  }
  make_place($path, $is_folder);
  return @own;
}

# In the first process of a PID namespace: goes into a copy of a stage, and brings along what the list names.
sub move_in {
  my ($root, $user, @list) = @_;
  # Only the owner of a mount namespace may take something from it (CLONE_NEWNS).
  !$user || syscall($unshare, 0x20000) == 0 or give_up('unshare');
  my ($type, $nothing) = ('proc', '');
  my $system = syscall($fsopen, $type, 1);
  # FSCONFIG_CMD_CREATE; then nosuid, nodev and noexec
  $system >= 0 && syscall($fsconfig, $system, 6, 0, 0, 0) == 0 or give_up('mount /proc');
  my $proc = syscall($fsmount, $system, 1, 14);
  my @moves = (['see', '/proc', $proc, 1]);
  while (my ($kind, $path, $source) = splice @list, 0, 3) {
    # OPEN_TREE_CLONE, OPEN_TREE_CLOEXEC, AT_RECURSIVE
    push @moves, [$kind, $path, $kind =~ /see|use/ ? (syscall($open_tree, -100, $source, 0x88001), -d $source) : $source];
  }
  # CLONE_NEWNS
  syscall($setns, fileno $root, 0) == 0 && syscall($unshare, 0x20000) == 0 or give_up('setns');
  my $umask = umask 022;
  my @own;
  for (@moves) {
    my ($kind, $path, $source, $is_folder) = @$_;
    push @own, make_own_place($kind eq 'link' ? $path =~ s{/[^/]*$}{}r : $path, $is_folder // 1);
    if ($kind eq 'memory') { mount_memory($path, 'mode=1777') }
    elsif ($kind eq 'terminals') { mount_terminals($path) }
    elsif ($kind eq 'link') { symlink $source, $path or give_up($path) }
    else {
      # MOVE_MOUNT_F_EMPTY_PATH
      $source >= 0 && syscall($move_mount, $source, $nothing, -100, $path, 4) == 0 or give_up("bind $path");
      $path eq '/proc' || restrict($path, $kind eq 'see' ? 7 : 6, 0x8000) or give_up("bind $path");
    }
  }
  umask $umask;
  restrict($_, 1, 0) or give_up("lock $_") for @own, '/';
  # Mounts made inside stay inside (MS_REC, MS_SLAVE).
  attach('none', '/', 0, 0x84000) or give_up('mount');
  chdir '/';
}

sub become_user {
  my ($uid, $gid) = @_;
  # A script opens its output by name.
  chown $uid, $gid, $_ for grep { -p $_ } *STDIN, *STDOUT, *STDERR;
  $) = "$gid $gid";
  $( = $gid;
  ($<, $>) = ($uid, $uid);
  $< == $uid && $> == $uid && $) eq "$gid $gid" && $( eq "$gid $gid" or give_up('setuid');
}
`;
