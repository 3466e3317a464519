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

# In a network namespace in which nothing but its loopback address exists: a new one, or that of a path.
sub listen_inside {
  my ($id, $stage, $path, @ports) = @_;
  if ($path ne '') {
    open my $namespace, '<', $path or give_up($path);
    syscall($setns, fileno $namespace, 0) == 0 or give_up('setns');
  }
  else {
    enter_user($stage);
    # CLONE_NEWNET
    syscall($unshare, 0x40000000) == 0 or give_up('unshare');
  }
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

# A network namespace that commands of a stage can be started in, until it is closed.
sub open_door {
  my ($id, @how) = @_;
  my ($why, $namespace) = hold(sub { listen_inside($id, @how) }, 'net');
  $doors{$id} = $namespace if !$why;
  return $why;
}

sub close_door { delete $doors{$_[0]}; return '' }
`;
