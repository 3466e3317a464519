import { arch, platform } from 'node:os';
import type { Owner, Sandbox } from '@whetstone/sandbox';
import type { EnvironmentConfig } from '../config/config.ts';
import { hashJson } from '../plan/hash-json.ts';

/** Changes when layers of older versions must not be used any more. */
const FORMAT = 2;

/** Mode and blob id by path. */
type Inputs = ReadonlyMap<string, { mode: string; oid: string }>;

/** `owner`: to whom its files belong, if not to the user of this process. */
type KeyParts = { inputs: Inputs; tools: string; at: string | undefined; owner?: Owner | undefined };

/**
 * What an environment depends on: the inputs by content, the commands and their variables (`${NAME}` as written), the
 * platform and its tools, and the path at which it was made.
 */
export function environmentKey(config: EnvironmentConfig, { inputs, tools, at, owner }: KeyParts): string {
  return hashJson({ ...stated(config, inputs), ...(owner && { uid: owner.uid }), at: at ?? null, tools });
}

/** The part of the key that is known without starting anything: all but the tools and the path. */
export function workKey(config: EnvironmentConfig, inputs: Inputs): string {
  return hashJson(stated(config, inputs));
}

const stated = ({ prepare, env = {} }: EnvironmentConfig, inputs: Inputs) => ({
  ...{ FORMAT, prepare, env },
  files: [...inputs].map(([path, { mode, oid }]) => [path, mode, oid]).sort(),
  uid: process.getuid?.() ?? null,
  machine: [platform(), arch(), libc()],
});

/** The tools that `prepare` starts, and those which they start. */
const STARTED_WITH: Readonly<Record<string, readonly string[]>> = {
  npm: ['node'],
  npx: ['node'],
  pnpm: ['node'],
  yarn: ['node'],
  corepack: ['node'],
  node: [],
  bun: [],
  deno: [],
  pip: ['python3'],
  pip3: ['python3'],
  pipenv: ['python3'],
  python: [],
  python3: [],
  poetry: ['python3'],
  uv: ['python3'],
  go: ['cc'],
  cargo: ['rustc', 'cc'],
  make: ['cc'],
  cmake: ['cc'],
  mvn: ['java'],
  gradle: ['java'],
  sbt: ['java'],
  java: [],
  bundle: ['ruby'],
  gem: ['ruby'],
  ruby: [],
  composer: ['php'],
  php: [],
  mix: ['elixir'],
  dotnet: [],
  swift: [],
  pdm: ['python3'],
  conda: [],
};

/** For a script, whose commands are not known. */
const USUAL = ['node', 'python3'];

/**
 * The real path of each program that the commands name, with the version of a known tool and the checksum of another one,
 * which nobody starts for that: it may not know `--version`.
 */
export async function toolVersions(commands: readonly string[], sandbox: Sandbox): Promise<string> {
  const words = new Set(commands.flatMap((command) => command.match(/(?<![\w.$/-])\w[\w.+-]*/g) ?? []));
  const named = Object.keys(STARTED_WITH).filter((tool) => words.has(tool));
  const others = [...words].filter((word) => STARTED_WITH[word] === undefined);
  const tools = new Set(
    named.length === 0 ? USUAL : named.flatMap((tool) => [tool, ...(STARTED_WITH[tool] ?? [])]),
  );
  // At the same time, because some take a while.
  const asked = [...tools].map(
    (tool) =>
      `echo "${tool} $(readlink -f "$(command -v ${tool})") $(${tool} ${versionOption(tool)} 2>/dev/null)" &`,
  );
  const files = `for word in ${others.join(' ')}; do
    file=$(readlink -f "$(command -v "$word")") && [ -f "$file" ] && echo "$word $file $(cksum < "$file")"
  done`;
  const { stdout } = await sandbox.runShell([...asked, files, 'wait'].join('\n'), { timeoutMs: 60_000 });
  return stdout.split('\n').sort().join('\n');
}

const versionOption = (tool: string): string => (tool === 'go' ? 'version' : '--version');

let knownLibc: string | null | undefined;

/** `null` where it is not glibc. Asked once, because the report also describes every thread, module and handle. */
function libc(): string | null {
  if (knownLibc === undefined) {
    const { header } = process.report.getReport() as { header?: { glibcVersionRuntime?: string } };
    knownLibc = header?.glibcVersionRuntime ?? null;
  }
  return knownLibc;
}
