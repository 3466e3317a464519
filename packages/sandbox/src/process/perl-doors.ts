/** The part of the launcher that makes network namespaces with doors. */
export const PERL_DOORS = String.raw`
# To Node, as a message with the text of a JSON object. That is the form in which Node's own children send a socket.
sub hand_over {
  my ($socket, $type, $message) = @_;
  my $text = "{\"cmd\":\"NODE_HANDLE\",\"type\":\"$type\",\"dgramType\":\"udp4\",\"msg\":$message}\n";
  my $buffer = pack 'PQ', $text, length $text;
  # SOL_SOCKET, SCM_RIGHTS
  my $control = pack 'Qiiix4', 20, 1, 1, fileno $socket;
  my $header = pack 'QIx4PQPQix4', 0, 0, $buffer, 1, $control, 24, 0;
  syscall($sendmsg, 3, $header, 0) > 0 or give_up('sendmsg');
}

sub loopback { pack 'Sna4x8', 2, $_[0], pack 'C4', 127, 0, 0, 1 }

# In a new network namespace, in which nothing but its loopback address exists.
sub listen_inside {
  my ($id, $user, @ports) = @_;
  my ($uid, $gid) = ($>, $) + 0);
  # CLONE_NEWNET, CLONE_NEWUSER
  syscall($unshare, 0x40000000 | ($user ? 0x10000000 : 0)) == 0 or give_up('unshare');
  map_own_user($uid, $gid) if $user;
  socket my $any, 2, 2, 0 or give_up('socket');
  # SIOCSIFFLAGS, IFF_UP
  my $up = pack 'a16sx22', 'lo', 1;
  ioctl $any, 0x8914, $up or give_up('lo');
  # Where resolvers ask for names.
  socket my $names, 2, 2, 0 or give_up('socket');
  bind $names, loopback(53) or give_up('bind');
  hand_over($names, 'dgram.Socket', "{\"door\":$id}");
  for my $port (@ports) {
    socket my $door, 2, 1, 0 or give_up('socket');
    bind $door, loopback($port) or give_up('bind');
    listen $door, 511 or give_up('listen');
    hand_over($door, 'net.Server', "{\"door\":$id,\"port\":$port}");
  }
}

# A network namespace that commands can be started in, until it is closed. No process is needed for that.
sub open_door {
  my ($id, @how) = @_;
  pipe my $ready, my $is_ready;
  pipe my $wait, my $go;
  my $pid = fork;
  return "fork: $!" if !defined $pid;
  if (!$pid) {
    close $_ for $ready, $go;
    open STDERR, '>&', $is_ready;
    listen_inside($id, @how);
    syswrite $is_ready, 'ok';
    sysread $wait, my $nothing, 1;
    exit;
  }
  close $_ for $is_ready, $wait;
  sysread $ready, my $why, 4096;
  my @namespaces;
  if ($why eq 'ok') {
    for my $kind (('user') x !!$how[0], 'net') {
      open my $namespace, '<', "/proc/$pid/ns/$kind" or $why = "ns/$kind: $!";
      push @namespaces, $namespace;
    }
  }
  close $go;
  waitpid $pid, 0;
  return $why || 'it ended' if $why ne 'ok';
  $doors{$id} = \@namespaces;
  return '';
}

sub close_door { delete $doors{$_[0]}; return '' }
`;
