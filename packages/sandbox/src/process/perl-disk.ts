/** The part of the launcher that makes file systems of a limited size, each in a file. It takes root and loop devices. */
export const PERL_DISK = `
# Copies what a sparse file has, and leaves its holes (SEEK_DATA, SEEK_HOLE).
sub copy_sparse {
  my ($from, $to) = @_;
  my ($at, $size) = (0, -s $from);
  while (defined(my $start = sysseek $from, $at, 3)) {
    $at = sysseek $from, $start, 4;
    sysseek $from, $start, 0;
    sysseek $to, $start, 0;
    for (my $left = $at - $start; $left > 0;) {
      my $read = sysread $from, my $bytes, $left < 65536 ? $left : 65536 or return 0;
      syswrite($to, $bytes) == $read or return 0;
      $left -= $read;
    }
  }
  return truncate $to, $size;
}

# A loop device for a file, which is freed by the end of its last use. Returns the device, open.
sub loop_device {
  my ($file) = @_;
  open my $control, '+<', '/dev/loop-control' or return;
  for (1 .. 50) {
    # LOOP_CTL_GET_FREE. Somebody else may take the same.
    my $number = ioctl $control, 0x4c82, 0 or return;
    open my $device, '+<', '/dev/loop' . ($number + 0) or return;
    # LOOP_CONFIGURE, LO_FLAGS_AUTOCLEAR
    my $config = pack 'LLQ5L4x160x16x64', fileno $file, 0, 0, 0, 0, 0, 0, 0, 0, 0, 4;
    return ($device, '/dev/loop' . ($number + 0)) if ioctl $device, 0x4c0a, $config;
    # EBUSY
    return if $! != 16;
  }
  return;
}

# Mounts a copy of the file system in a file at a place, and an empty folder of it at another.
sub open_disk {
  my ($template, $image, $place, $target) = @_;
  open my $from, '<', $template or return "$template: $!";
  open my $file, '+>', $image or return "$image: $!";
  copy_sparse($from, $file) or return "copy: $!";
  my ($device, $path) = loop_device($file) or return "loop: $!";
  # Nothing of it has to outlive a crash, so nothing waits for the disk below, nor is it written in any order.
  my ($type, $options) = ('ext4', 'nobarrier,noinit_itable,data=writeback,commit=600');
  # MS_NOSUID, MS_NODEV, MS_NOATIME
  syscall($mount, $path, $place, $type, 0x406, $options) == 0 or return "mount: $!";
  return '' if mkdir("$place/case", 0700) && attach("$place/case", $target, 0, 0x1000);
  my $why = "mount: $!";
  unmount($place);
  return $why;
}

# Ends both mounts. Nobody reads the file afterwards, and writing gigabytes to it takes seconds in which this process starts
# nothing, so what is not written yet is dropped. The kernel logs that (EXT4_IOC_SHUTDOWN, EXT4_GOING_FLAGS_NOLOGFLUSH), so
# only where it is worth it.
sub close_disk {
  my ($place, $target, $is_large) = @_;
  my $dropping = pack 'L', 2;
  if ($is_large && open my $root, '<', $place) { ioctl $root, 0x8004587d, $dropping }
  return unmount($target) || unmount($place);
}
`;
