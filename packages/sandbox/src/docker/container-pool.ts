import { PassThrough } from 'node:stream';
import type { OpenDoor, OwnEntry } from '../process/launcher-interface.ts';
import { assertTexts } from '../process/program-texts.ts';
import { USAGE_FILES, type Usage, usageFrom } from '../process/resource-group.ts';
import type { CommandRunner, RunningCommand } from '../process-sandbox/containment.ts';
import { type Container, type ContainerPlan, IDLE_PROCESSES, startContainer } from './container.ts';

/*
 * Each container runs one command at a time, so whatever runs in it belongs to that command: the engine's PID namespace holds
 * a command's processes together. Commands that run at once have a container each, and share the network of the first.
 */

/** Gives what a command leaves behind two seconds after TERM. Only the first processes of the container and itself stay. */
const COMMAND = `
trap : TERM
( exec "$@" )
status=$?
set -- /proc/[0-9]*
if [ $# -gt ${IDLE_PROCESSES + 1} ]; then
  kill -s TERM -- -1
  polls=0
  while set -- /proc/[0-9]*; [ $# -gt ${IDLE_PROCESSES + 1} ] && [ $polls -lt 40 ]; do
    sleep 0.05
    polls=$((polls + 1))
  done
  kill -s KILL -- -1
fi 2>/dev/null
exit $status
`;

const signal = (name: string): string[] => ['/bin/sh', '-c', `kill -s ${name} -- -1 2>/dev/null; true`];

const FILES = Object.values(USAGE_FILES).flatMap(({ controller, files }) => [
  `${controller}/${files[1]}`,
  files[2],
]);

/** Ends what is left, and prints what the container has used so far. */
const SETTLE = `
kill -s KILL -- -1 2>/dev/null
polls=0
while set -- /proc/[0-9]*; [ $# -gt ${IDLE_PROCESSES + 1} ]; do
  [ $polls -lt 200 ] || exit 1
  kill -s KILL -- -1 2>/dev/null
  [ $polls -lt 5 ] || sleep 0.05
  polls=$((polls + 1))
done
cd /sys/fs/cgroup || exit 0
for file in ${FILES.join(' ')}; do
  [ -r $file ] || continue
  echo "= $file"
  while read -r line; do echo "$line"; done < $file
done
`;

export type ContainerPool = CommandRunner & {
  usage(): Usage;
  /** Ends every container. Nothing can be run afterwards. */
  remove(): Promise<void>;
};

/** `sealed`: of a sandbox. `setup`: of commands that no agent chose, where they reach listed hosts. `open`: of this machine. */
type Network = 'sealed' | 'setup' | 'open';

/**
 * `openDoor`: called with the first container of a network of its own, which it makes lead to the gateway and to hosts.
 * `hasSetup`: whether commands that no agent chose have such a network. Else they have that of this machine.
 */
export async function openContainerPool(
  plan: ContainerPlan,
  {
    openDoor,
    lend,
    hasSetup,
  }: {
    openDoor: (first: Container, network: 'sealed' | 'setup') => Promise<OpenDoor>;
    lend: CommandRunner['lend'];
    hasSetup: boolean;
  },
): Promise<ContainerPool> {
  const all: Container[] = [];
  const idle: Record<Network, Container[]> = { sealed: [], setup: [], open: [] };
  const used = new Map<Container, Usage>();
  const doors: OpenDoor[] = [];
  const firsts = new Map<Network, Promise<Container>>();

  /** The container whose network the others of its kind share. */
  async function openNetwork(network: 'sealed' | 'setup'): Promise<Container> {
    const first = await startContainer(plan, 'none');
    try {
      doors.push(await openDoor(first, network));
    } catch (error) {
      await first.remove();
      throw error;
    }
    all.push(first);
    idle[network].push(first);
    return first;
  }

  function firstOf(network: 'sealed' | 'setup'): Promise<Container> {
    const known = firsts.get(network) ?? openNetwork(network);
    firsts.set(network, known);
    return known;
  }

  await firstOf('sealed');

  async function take(network: Network, lent: readonly OwnEntry[]): Promise<Container> {
    const first = network === 'open' ? undefined : await firstOf(network);
    const ready = lent.length === 0 ? idle[network].pop() : undefined;
    if (ready) return ready;
    const shown = lent.flatMap((entry) =>
      'source' in entry ? [{ source: entry.source, target: entry.path, isReadOnly: true }] : [],
    );
    const more = { ...plan, mounts: [...plan.mounts, ...shown] };
    const made = await startContainer(more, first ? { container: first.id } : 'host');
    all.push(made);
    return made;
  }

  async function runIn(container: Container, argv: readonly string[]): Promise<string | undefined> {
    const { stdout, stderr, exited } = await container.exec({ argv });
    stderr.resume();
    let text = '';
    stdout.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk;
    });
    return (await exited) === 0 ? text : undefined;
  }

  /** Where no other process can be started, as after a fork bomb, the whole container ends. */
  async function settle(container: Container): Promise<boolean> {
    for (let tries = 0; tries < 5; tries += 1) {
      const text = await runIn(container, ['/bin/sh', '-c', SETTLE]).catch(() => undefined);
      if (text !== undefined) {
        used.set(container, usageIn(text));
        return true;
      }
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    await container.remove();
    return false;
  }

  return {
    lend,
    async run({ argv, env, folder, network, lent, stdin }): Promise<RunningCommand> {
      assertTexts([...argv, ...Object.entries(env).flat()]);
      const kind = network !== 'open' ? 'sealed' : hasSetup ? 'setup' : 'open';
      const shown = lent?.entries ?? [];
      const container = await take(kind, shown);
      const command = ['/bin/sh', '-c', COMMAND, 'sh', ...argv];
      const running = await container.exec({ argv: command, env, folder, stdin }).catch(async (error) => {
        await container.remove();
        throw error;
      });
      const report = new PassThrough();
      report.write('started\n');
      void running.exited.then((code) => report.end(`exited ${code}\n`));
      const send = async (name: string): Promise<void> => {
        const done = await runIn(container, signal(name)).catch(() => undefined);
        if (done === undefined && name === 'KILL') await container.remove();
      };
      return {
        ...running,
        report,
        tree: {
          terminate: () => send('TERM'),
          kill: () => send('KILL'),
          async sweep() {
            if (!(await settle(container))) return;
            // No other command sees what this one was lent.
            if (shown.length > 0) await container.remove();
            else idle[kind].push(container);
          },
        },
      };
    },
    usage: () => together([...used.values()]),
    async remove() {
      await Promise.all(doors.map((door) => door.close()));
      await Promise.all(all.map((container) => container.remove()));
    },
  };
}

function usageIn(text: string): Usage {
  const parts = text.split(/^= /m).slice(1);
  const files = new Map(parts.map((part) => [part.split('\n', 1)[0], part.slice(part.indexOf('\n') + 1)]));
  return usageFrom((controller, names) => {
    const [first, second] = [files.get(`${controller}/${names[1]}`), files.get(names[2])];
    if (first !== undefined) return { version: 1, text: first };
    return second === undefined ? undefined : { version: 2, text: second };
  });
}

/** Several peaks say nothing of what was used together. */
function together(all: readonly Usage[]): Usage {
  const seconds = all.map(({ cpuSeconds }) => cpuSeconds);
  const known = seconds.filter((one) => one !== null);
  const [only] = all;
  return {
    cpuSeconds:
      known.length === 0 || known.length < all.length ? null : known.reduce((sum, one) => sum + one),
    peakMemoryBytes: all.length === 1 && only ? only.peakMemoryBytes : null,
    exceeded: [...new Set(all.flatMap(({ exceeded }) => exceeded))],
  };
}
