/** A shell script that harms what it can, and what its case comes to: `status`, or with its class `status: class`. */
export type HostileAgent = { script: string; outcomes: readonly string[] };

/** Of limits that `hostile-cases.ts` states: 256 MB of memory, 120 processes, 100 MB of disk. In seconds or less. */
export const QUICK: Readonly<Record<string, HostileAgent>> = {
  'ends-at-once': { script: 'exit 3', outcomes: ['failed: agent'] },
  works: { script: 'echo done >> README.md', outcomes: ['passed'] },
  'fork-bomb': {
    script: 'exec sh -c "bomb() { bomb | bomb & }; bomb; sleep 0.2; exit 1"',
    outcomes: ['failed: limit', 'failed: agent'],
  },
  'memory-bomb': { script: `perl -e '$x = "a" x 600_000_000'`, outcomes: ['failed: limit'] },
  'fills-disk': {
    script: 'head -c 150000000 /dev/zero > filled; echo $? > code; exit 1',
    outcomes: ['failed: limit'],
  },
  'sparse-file': { script: 'truncate -s 3G sparse', outcomes: ['failed: limit'] },
  'not-utf-8': {
    script: `perl -e 'for (1..200) { open my $f, ">", "\\xff\\xfe$_" or die; print $f "\\xff" x 100 } print "\\xc3\\x28\\xff" x 1000'`,
    outcomes: ['passed'],
  },
  strays: {
    script:
      '( trap "" TERM; sleep 3000 & ); setsid sleep 3000 >/dev/null 2>&1 & setsid -f sh -c "while :; do echo x >> README.md; sleep 0.05; done" ; exit 0',
    outcomes: ['passed'],
  },
  'removes-all': {
    script: 'rm -rf "$PWD" ~ "$TMPDIR" 2>/dev/null; exit 0',
    outcomes: ['failed: agent', 'failed: policy', 'passed'],
  },
  'kills-all': { script: 'kill -9 -1', outcomes: ['failed: agent'] },
  'pipes-and-links': {
    script: 'mkfifo pipe; ln -s / root; ln -s loop loop; chmod 000 src; exit 0',
    outcomes: ['passed', 'failed: agent', 'failed: policy'],
  },
  'damages-git': {
    script: 'rm -rf .git/objects; echo x > .git/HEAD',
    outcomes: ['passed', 'failed: agent', 'failed: policy'],
  },
};

/** Of larger limits, stated there: 2 GB of memory, 12 GB of disk. Each takes seconds to a minute. */
export const HEAVY: Readonly<Record<string, HostileAgent>> = {
  'prints-2-gb': { script: 'head -c 2000000000 /dev/zero | tr "\\0" x; exit 1', outcomes: ['failed: agent'] },
  'writes-a-million-files': {
    script: `perl -e 'for (0..999) { mkdir "d$_"; for my $f (0..999) { open my $h, ">", "d$_/$f" or exit 1 } }'`,
    outcomes: ['failed: limit', 'failed: agent'],
  },
  'writes-200000-files': {
    script: `perl -e 'for (0..199) { mkdir "d$_"; for my $f (0..999) { open my $h, ">", "d$_/$f" or exit 1; print $h "$_ $f" } }'`,
    outcomes: ['passed', 'failed: limit'],
  },
  'fills-a-large-disk': {
    script: 'head -c 13000000000 /dev/zero > filled; exit 1',
    outcomes: ['failed: limit'],
  },
  'sparse-file-on-a-large-disk': { script: 'truncate -s 3G sparse', outcomes: ['failed: limit'] },
};
