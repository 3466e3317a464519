import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test, vi } from 'vitest';
import { hasBubblewrap } from '../__fixtures__/has-bubblewrap.ts';
import { limitsOf } from '../process-sandbox/limits.ts';
import { startSandboxProvider } from '../start-sandbox-provider.ts';
import { type AttackName, attacks, reachableFrom } from './attacks.ts';
import { probeSandbox } from './probe-sandbox.ts';

const fixture = join(import.meta.dirname, '../__fixtures__/probe-levels.ts');
const document = join(import.meta.dirname, '../../../../docs/security.md');

/** Ends in a user namespace, as the same user and without rights, in which no other can be made. */
const WITHOUT_NAMESPACES = [
  ...['sh', '-c', 'echo 0 > /proc/sys/user/max_user_namespaces && exec "$@"', 'sh'],
  ...['setpriv', '--inh-caps=-all', '--ambient-caps=-all', '--bounding-set=-all'],
];

/**
 * What came through at each level, with this user as the host; `null`: it does not start. The home and what else is there is
 * made for it. `hasNamespaces`: whether the system allows any.
 */
async function reachedAs(
  user: number,
  levels: readonly string[],
  hasNamespaces = true,
): Promise<Record<string, AttackName[] | null>> {
  const folder = await mkdtemp(join(tmpdir(), 'probe-test-'));
  try {
    await chmod(folder, 0o755);
    const [scratch = '', home = '', kept = ''] = ['scratch', 'home', 'kept'].map((name) =>
      join(folder, name),
    );
    const temporary = join(folder, 'tmp');
    for (const path of [scratch, home, kept, temporary]) await mkdir(path);
    for (const path of [join(home, '.netrc'), join(kept, 'test')]) await writeFile(path, 'x\n');
    for (const path of [scratch, home, temporary]) await chown(path, user, user);
    const drop = ['setpriv', `--reuid=${user}`, `--regid=${user}`, '--clear-groups'];
    const own = ['unshare', '--user', `--map-user=${user}`, `--map-group=${user}`, '--keep-caps'];
    const [file = '', ...args] = [
      ...(user === 0 ? [] : drop),
      ...(hasNamespaces ? [] : [...own, ...WITHOUT_NAMESPACES]),
      process.execPath,
      fixture,
      scratch,
      kept,
      ...levels,
    ];
    const { stdout } = await promisify(execFile)(file, args, {
      env: { ...process.env, HOME: home, TMPDIR: temporary },
    });
    return JSON.parse(stdout);
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

const isLimited = limitsOf().processes !== undefined;
const hasRoute = await readFile('/proc/net/route', 'utf8').then(
  (table) => /\t00000000\t/.test(table),
  () => false,
);

test.runIf(hasBubblewrap && hasRoute && isLimited && process.getuid?.() === 0)(
  'the attacks come through where docs/security.md says so, and nothing comes out of bubblewrap',
  { tags: ['bubblewrap', 'root'] },
  async () => {
    const [root, user, without] = await Promise.all([
      reachedAs(0, ['process', 'bubblewrap']),
      reachedAs(65_534, ['process', 'bubblewrap']),
      reachedAs(65_534, ['process', 'bubblewrap'], false),
    ]);
    // Without root there are control groups only where the system passes them on, which no user of this test has.
    const unlimited = ['process-bomb', 'memory-bomb'];
    expect([root.bubblewrap, user.bubblewrap, without.bubblewrap]).toEqual([[], unlimited, null]);
    // What a report says of the sandbox `process`, which is not tried in each run.
    expect([root.process, user.process, without.process]).toEqual([
      reachableFrom('pid-namespace', true, limitsOf()),
      reachableFrom('pid-namespace', false, {}),
      reachableFrom('descendants', false, {}),
    ]);
    const columns = {
      '`process`, root': root.process,
      '`process`, user': user.process,
      '`process`, no namespaces': without.process,
      '`bubblewrap`, root': root.bubblewrap,
      '`bubblewrap`, user': user.bubblewrap,
      // Played by docker.slow.test.ts where an engine runs.
      '`docker`, root': [] as AttackName[],
    };
    const row = (cells: readonly string[]): string => `| ${cells.join(' | ')} |`;
    const lines = Object.entries(attacks).map(([attack, what]) =>
      row([
        what,
        ...Object.values(columns).map((found) =>
          found?.includes(attack as AttackName) ? '**reachable**' : 'blocked',
        ),
      ]),
    );
    const table = [
      row(['A command tries to', ...Object.keys(columns)]),
      row(['', ...Object.keys(columns)].map(() => '---')),
      ...lines,
    ];
    const text = await readFile(document, 'utf8');
    const [before = '', after = ''] = text.split(/<!-- table -->.*<!-- end -->/s);
    const wanted = `${before}<!-- table -->\n\n${table.join('\n')}\n\n<!-- end -->${after}`;
    await expect(wanted).toMatchFileSnapshot(document);
  },
);

test.runIf(isLimited).each([
  ['the kernel of this machine', undefined, 3],
  ['another kernel', '4.4.0\n', 0],
  ['a kernel that does not say its name', '', 3],
])(
  'bombs and namespaces are tried under a runtime of containers with %s',
  { tags: 'cgroups' },
  async (_, kernel, tried) => {
    const scratch = await mkdtemp(join(tmpdir(), 'probe-test-'));
    try {
      const provider = await startSandboxProvider('process', { scratch });
      const container = { name: 'image', id: 'sha256:1', digest: null, runtime: 'named' };
      const probed = {
        ...provider,
        describe: async () => ({ ...(await provider.describe()), container }),
        async start(options: Parameters<typeof provider.start>[0]) {
          const sandbox = await provider.start(options);
          if (kernel !== undefined) {
            const result = await sandbox.runShell('true');
            vi.spyOn(sandbox, 'runShell').mockResolvedValue({ ...result, stdout: kernel });
          }
          return sandbox;
        },
      };
      const found = await probeSandbox(probed, { scratch, kept: [] });
      const names = ['process-bomb', 'memory-bomb', 'namespaces'];
      expect(found.filter(({ attack }) => names.includes(attack))).toHaveLength(tried);
    } finally {
      await rm(scratch, { recursive: true, force: true });
    }
  },
);
