/**
 * What some machines lack: the tags of the tests that need it and are skipped without it, and the cause that is shown at
 * the end of a test run.
 */
export const testNeeds = [
  { name: 'linux', description: 'this is not Linux' },
  { name: 'root', description: 'the tests do not run as root' },
  { name: 'pid-namespaces', description: 'there are no PID namespaces' },
  { name: 'bubblewrap', description: 'bubblewrap is not installed, or does not start' },
  { name: 'sandbox-runtime', description: 'the sandbox runtime does not start; it needs socat and ripgrep' },
  { name: 'docker', description: 'no container engine answers, or not to root' },
  { name: 'cgroups', description: 'this user may not make cgroups' },
  { name: 'namespaces', description: 'there are no mount namespaces' },
  { name: 'mounts', description: 'there are no layered mounts' },
  { name: 'openssl', description: 'openssl is not installed' },
  { name: 'pytest', description: 'python3 has no pytest' },
  { name: 'cargo', description: 'cargo is not installed' },
  { name: 'venv', description: 'python3 cannot make virtual environments' },
  { name: 'script', description: 'script (util-linux) is not installed' },
  { name: 'zsh', description: 'zsh is not installed' },
  { name: 'fish', description: 'fish is not installed' },
  { name: 'chromium', description: 'Chromium is not installed' },
];
