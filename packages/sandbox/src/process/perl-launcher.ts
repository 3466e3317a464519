import { spawn } from 'node:child_process';
import type { Socket as DatagramSocket } from 'node:dgram';
import { accessSync, constants } from 'node:fs';
import type { Server, Socket } from 'node:net';
import { release, constants as system } from 'node:os';
import { getSystemErrorName } from 'node:util';
import type { Launcher, LaunchRequest, OwnEntry, Sealing, StageEntry } from './launcher-interface.ts';
import { pendingPrograms, type Report } from './pending-programs.ts';
import { PERL_LAUNCHER, PERL_START, SYSTEM_CALLS } from './perl-program.ts';
import { assertTexts } from './program-texts.ts';

const PERLS = ['/usr/bin/perl', '/usr/local/bin/perl', '/bin/perl', '/run/current-system/sw/bin/perl'];

/** The Perl that can start programs here, which takes Linux 5.3; `undefined` where there is none. */
export const perl: string | undefined =
  process.platform === 'linux' && SYSTEM_CALLS[process.arch] && hasPidfds()
    ? PERLS.find(isExecutable)
    : undefined;

const KILLED = 128 + system.signals.SIGKILL;

export function startPerlLauncher(file: string, onEnd: () => void): Launcher {
  const child = spawn(file, ['-e', PERL_START, '--', ...(SYSTEM_CALLS[process.arch] ?? [])], {
    // It holds no folder that somebody wants to remove, and has nothing of this process's environment.
    cwd: '/',
    // A symbol that is looked up after a fork is looked up in each child.
    env: { LD_BIND_NOW: '1' },
    // A session of its own: Ctrl-C in a terminal goes to the whole group of this process.
    detached: true,
    stdio: ['pipe', 'pipe', 'ignore', 'ipc'],
  });
  const [input, output] = [child.stdin as Socket, child.stdout as Socket];
  const programs = pendingPrograms(() => output.unref());
  let lastDoor = 0;
  let lastLook = 0;

  const ask = (kind: string, fields: readonly string[], program: readonly string[] = []) =>
    programs.begin((id) => {
      // A running program keeps this process alive, an idle launcher does not.
      output.ref();
      input.write(messageOf([kind, String(id), ...fields], program));
    });

  /** What the launcher does itself. Resolves with whether it is done. */
  async function tried(kind: string, fields: readonly string[]): Promise<boolean> {
    const { started, exited } = ask(kind, fields);
    // It reports no start, and an error only in its place.
    const code = await Promise.race([exited, started.then(() => exited)]);
    if (code === KILLED) throw new Error(`${kind}: the launcher was killed`);
    return code === 0;
  }

  async function done(kind: string, fields: readonly string[]): Promise<void> {
    if (!(await tried(kind, fields))) throw new Error(`${kind}: not done`);
  }

  const end = (reason: Error): void => {
    onEnd();
    programs.fail(reason, KILLED);
  };
  let unread = '';
  // By hand, because an interface of `node:readline` takes as long as all else that an answer needs.
  output.setEncoding('utf8').on('data', (text: string) => {
    const lines = (unread + text).split('\n');
    unread = lines.pop() ?? '';
    for (const line of lines) {
      const [, id, what = '', rest = ''] = /^(\d+) (\w+) (.*)$/.exec(line) ?? [];
      programs.settle(Number(id), reportOf(what, rest));
    }
  });
  // The end of the process says more.
  input.on('error', () => {});
  input.write(withLength(PERL_LAUNCHER));
  const waiting = new Map<number, WaitingDoor>();
  child.on('message', (message, handle) => {
    const { door, port } = message as { door: number; port?: number };
    const opened = waiting.get(door);
    if (!opened) return void (handle as Server | DatagramSocket).close();
    if (port === undefined) {
      const resolver = handle as DatagramSocket;
      opened.onNames(resolver.unref());
      opened.servers.push(resolver);
      return;
    }
    const connect = opened.ports.get(port);
    if (connect) opened.servers.push((handle as Server).unref().on('connection', connect));
  });
  child.on('error', end);
  child.on('exit', () => end(new Error('the process that starts commands was killed')));
  child.unref();
  child.channel?.unref();
  input.unref();
  output.unref();
  return {
    async start(request) {
      const program = programOf(request);
      return await ask('start', fieldsOf(request), program).started;
    },
    async makeFifos(folder, paths) {
      await done('pipes', [folder, ...paths]);
    },
    controlGroups: {
      make(folders, settings) {
        const fields = settings.flatMap(({ file, value, isOptional }) => [
          file,
          value,
          isOptional ? '1' : '',
        ]);
        input.write(messageOf(['group', '0', String(folders.length), ...folders, ...fields]));
      },
      remove: (folders) => done('ungroup', folders),
    },
    async remember(folders) {
      lastLook += 1;
      const id = String(lastLook);
      await done('remember', [id, ...folders]);
      return () =>
        done('look', [id]).then(
          () => true,
          () => false,
        );
    },
    mounts: {
      overlay: (folder, options, target) => done('overlay', [folder, options, target]),
      bind: (source, target) => done('bind', [source, target]),
      unmount: (target) => done('unmount', [target]),
      unmountUnused: (target) => done('unmount', [target, '1']),
      openDisk: ({ template, image, place, target }) => done('disk', [template, image, place, target]),
      remove: (paths) => done('remove', paths),
      clear({ targets, disk, folders }) {
        const { place = '', target = '', isLarge = false } = disk ?? {};
        const fields = [place, target, isLarge ? '1' : '', ...folders];
        return tried('clear', [String(targets.length), ...targets, ...fields]);
      },
    },
    doors: {
      openStage: (folder, entries, inUserNamespace) =>
        done('stage', [folder, inUserNamespace ? '1' : '', ...entries.flatMap(entryFields)]),
      async open(ports, onNames, place) {
        lastDoor += 1;
        const id = lastDoor;
        const servers: WaitingDoor['servers'] = [];
        waiting.set(id, { ports, onNames, servers });
        const close = async (): Promise<void> => {
          waiting.delete(id);
          for (const server of servers) server.close();
          await done('close', [String(id)]);
        };
        try {
          const where = 'join' in place ? ['', place.join] : [place.stage, ''];
          await done('door', [String(id), ...where, ...[...ports.keys()].map(String)]);
          return { id, close };
        } catch (error) {
          await close().catch(() => undefined);
          throw error;
        }
      },
    },
  };
}

/** A door, with what was handed over for it so far. */
type WaitingDoor = {
  ports: ReadonlyMap<number, (socket: Socket) => void>;
  onNames: (resolver: DatagramSocket) => void;
  servers: (Server | DatagramSocket)[];
};

function withLength(text: string): Buffer {
  const bytes = Buffer.from(text);
  const message = Buffer.allocUnsafe(4 + bytes.length);
  message.writeUInt32BE(bytes.length);
  bytes.copy(message, 4);
  return message;
}

function messageOf(fields: readonly string[], program: readonly string[] = []): Buffer {
  const [head, tail] = [fields.join('\0'), program.length === 0 ? '' : `${program.join('\0')}\0`];
  const [headBytes, tailBytes] = [Buffer.byteLength(head), Buffer.byteLength(tail)];
  const message = Buffer.allocUnsafe(8 + headBytes + tailBytes);
  message.writeUInt32BE(headBytes);
  message.writeUInt32BE(tailBytes, 4);
  message.write(head + tail, 8);
  return message;
}

/** The variables and arguments of the program, as the kernel takes them. */
function programOf({ file, args, env }: LaunchRequest): string[] {
  const texts = [...Object.entries(env).map(([name, value]) => `${name}=${value}`), file, ...args];
  assertTexts(texts);
  return texts;
}

function fieldsOf({ cwd, env, input = '', outputs, namespace, groups = [] }: LaunchRequest): string[] {
  const { common = '', own = '', view = '', at = '' } = namespace?.hiding ?? {};
  const contained = namespace
    ? ['1', namespace.inUserNamespace ? '1' : '', common, own, view, at, namespace.folder ?? '']
    : ['', '', '', '', '', '', ''];
  const fields = [
    ...[cwd, input, String(outputs.length), ...outputs],
    ...[...contained, ...sealingFields(namespace?.sealing)],
    ...[String(groups.length), ...groups, String(Object.keys(env).length)],
  ];
  assertTexts(fields);
  return fields;
}

function sealingFields(sealing: Sealing | undefined): string[] {
  if (!sealing) return ['0'];
  const { door = '', user, stage, own } = sealing;
  const fields = [stage, door, user?.uid ?? '', user?.gid ?? '', ...own.flatMap(entryFields)];
  return [String(fields.length), ...fields.map(String)];
}

const entryFields = (entry: StageEntry | OwnEntry): string[] => [
  ...[entry.kind, entry.path],
  'source' in entry ? entry.source : '',
];

function reportOf(what: string, rest: string): Report {
  if (what === 'pid') return { pid: Number(rest) };
  if (what === 'exit') return { exitCode: Number(rest) };
  const [, number, message = rest] = /^(\d+) (.*)$/.exec(rest) ?? [];
  const code = Number(number) > 0 ? getSystemErrorName(-Number(number)) : undefined;
  return { error: { code, message: code === undefined ? message : `${message} (${code})` } };
}

function hasPidfds(): boolean {
  const [major = 0, minor = 0] = release().split('.').map(Number);
  return major > 5 || (major === 5 && minor >= 3);
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
