/**
 * Rehearses a release, installs its tarballs in an empty folder and uses them like a user, without TypeScript tooling: on
 * this Node and on the oldest supported one.
 */
import { execFile, execFileSync, spawnSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { basename, delimiter, join } from 'node:path';
import { promisify } from 'node:util';
import { createGateway, scriptFromSteps } from '@whetstone/gateway';
import { rehearseRelease } from './release/rehearse-release.ts';

const OLDEST_NODE = '22.18.0';
/** A project whose agent is a module of its own, written against the packed `whetstone/adapter`. */
const ADAPTER_PROJECT = {
  'adapter.yaml': `repo: { path: . }
agents: { mine: { kind: custom, module: ./adapter.ts } }
tasks: adapter-tasks.yaml
variants: { plain: }
evaluation: { commands: ["grep hello done.txt"] }
`,
  'adapter-tasks.yaml': 'tasks: [{ id: greet, prompt: hello }]\n',
  'adapter.ts': `import { defineSandboxAgent, requireEnv, type Turn } from 'whetstone/adapter';

export default defineSandboxAgent({
  name: requireEnv('PATH') && 'mine',
  async send(input, ctx): Promise<Turn> {
    await ctx.sandbox.writeFiles({ 'done.txt': input.text });
    return { events: [], status: 'completed' };
  },
});
`,
};
/** The same adapter as a provider of promptfoo, and as the agent of an eval that Vitest runs. */
const PROVIDER_PROGRAM = `import { WhetstoneProvider } from 'whetstone/promptfoo';

const provider = new WhetstoneProvider({ config: { agent: { kind: 'custom', module: './adapter.ts' } } });
const { error, metadata } = await provider.callApi('hello');
if (metadata?.agent.fileChanges[0]?.path !== 'done.txt') throw new Error(error ?? 'nothing was written');
`;
const EVAL_PROJECT = {
  'package.json': '{ "type": "module" }\n',
  'vitest.config.js': "export default { test: { include: ['evals.test.ts'] } };\n",
  'evals.test.ts': "import { evalTests } from 'whetstone/vitest';\n\nawait evalTests();\n",
  'experiments/mine.ts': "import agent from '../adapter.ts';\n\nexport default { agent };\n",
  'evals/greet.eval.ts': `import { defineEval } from 'whetstone';

export default defineEval({
  async test(t) {
    await t.send('hello');
    t.fileChanged('done.txt');
  },
});
`,
};
/** A host that checks an environment with the packed `@whetstone/loop/test`. */
const CONFORMANCE_PROGRAM = `import { mkdtemp } from 'node:fs/promises';
import { LocalExecutionEnvironment } from '@whetstone/loop';
import { conformanceChecks } from '@whetstone/loop/test';

for (const check of conformanceChecks.filter(({ area }) => area === 'files')) {
  const environment = new LocalExecutionEnvironment({ workingDirectory: await mkdtemp('checked-') });
  await check.run(environment);
  await environment.cleanup();
}
`;
/** A program that imports everything that the packages export. */
const CONSUMER_PROGRAM = `import * as agents from '@whetstone/agents';
import * as agentsConfig from '@whetstone/agents/config';
import * as agentsInstall from '@whetstone/agents/install';
import { deriveAgentMetadata } from '@whetstone/events';
import { createGateway } from '@whetstone/gateway';
import * as loop from '@whetstone/loop';
import { conformanceChecks } from '@whetstone/loop/test';
import * as whetstone from 'whetstone';
import * as adapter from 'whetstone/adapter';
import { WhetstoneProvider } from 'whetstone/promptfoo';
import { evalTests } from 'whetstone/vitest';
export const surface = [agents, agentsConfig, agentsInstall, deriveAgentMetadata, createGateway, loop];
export const more = [conformanceChecks, whetstone, adapter, WhetstoneProvider, evalTests];
`;
/** Part of what the first example of a package's README prints. The model of the loop's is a script. */
const QUICKSTARTS = {
  loop: 'tool: glob\ncompleted A README.\n',
  gateway: "text: 'Writing it.'",
  sandbox: '/home\n',
};
/** Prints the URL of every module that is loaded. */
const PRINT_MODULES = `data:text/javascript,${encodeURIComponent(`
import { registerHooks } from 'node:module';
import { writeSync } from 'node:fs';
registerHooks({ load(url, context, next) { writeSync(2, url + '\\n'); return next(url, context); } });`)}`;
const root = join(import.meta.dirname, '..');
/** A recorded output of Codex, and its transcript. */
const RECORDED = join(root, 'packages/agents/src/native/codex-cli/__fixtures__/codex-0.169.0');
const work = mkdtempSync(join(tmpdir(), 'whetstone-pack-'));

try {
  const tarballs = await rehearseRelease(work);
  const user = install('user', tarballs);
  const agentsOnly = install(
    'agents',
    tarballs.filter((file) => !/^whetstone-\d/.test(basename(file))),
  );
  for (const node of [process.execPath, oldestNode()]) {
    useAsUser(user, node);
    runAgentExamples(agentsOnly, node);
    await runQuickstarts(user, node);
  }
  checkBridges(user);
  checkSite(user);
  checkTypes(user);
  checkDocuments(user);
  console.log('The tarballs work.');
} finally {
  rmSync(work, { recursive: true, force: true });
}

/** A new folder with these packages and their dependencies. */
function install(name: string, packages: readonly string[]): string {
  const folder = join(work, name);
  mkdirSync(folder);
  writeFileSync(join(folder, 'package.json'), '{ "private": true, "type": "module" }\n');
  execFileSync('npm', ['install', '--no-audit', '--no-fund', ...packages], { cwd: folder, stdio: 'inherit' });
  return folder;
}

/** The oldest supported Node, from the registry; only for the platform that CI runs on. */
function oldestNode(): string {
  const name = `node-${process.platform}-${process.arch}`;
  return join(install('node', [`${name}@${OLDEST_NODE}`]), 'node_modules', name, 'bin', 'node');
}

function useAsUser(user: string, node: string): void {
  const folder = mkdtempSync(join(user, 'try-'));
  const program = join(user, 'node_modules/whetstone/bin/whetstone.js');
  const whetstone = (...args: string[]) =>
    execFileSync(node, [program, ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { ...process.env, PATH: `${join(node, '..')}${delimiter}${process.env.PATH}`, NODE_OPTIONS: '' },
    });
  const version = whetstone('--version').trim();
  const git = (...args: string[]) => execFileSync('git', ['-C', folder, ...args], { stdio: 'ignore' });
  git('init');
  whetstone('init');
  git('add', '--all');
  git('-c', 'user.name=n', '-c', 'user.email=e@example.invalid', 'commit', '-m', 'start');
  const dry = whetstone('run', '--dry-run');
  if (!dry.includes('Nothing was started.')) throw new Error(`the dry run said:\n${dry}`);
  checkStart(folder, [node, '--import', PRINT_MODULES, program, 'run', '--dry-run']);
  for (const [name, content] of Object.entries(ADAPTER_PROJECT)) writeFileSync(join(folder, name), content);
  const ran = whetstone('run', '--config', 'adapter.yaml');
  if (!ran.includes('1 passed')) throw new Error(`the run of an adapter said:\n${ran}`);
  for (const [name, program] of [
    ['conformance.ts', CONFORMANCE_PROGRAM],
    ['provider.ts', PROVIDER_PROGRAM],
  ] as const) {
    writeFileSync(join(folder, name), program);
    execFileSync(node, [name], { cwd: folder, stdio: 'inherit' });
  }
  runEvalsInVitest(folder, node);
  console.log(
    `whetstone ${version} works on ${execFileSync(node, ['--version'], { encoding: 'utf8' }).trim()}`,
  );
}

/** A start takes as long as it has modules to find and to open. */
function checkStart(cwd: string, [file = '', ...args]: string[]): void {
  const { stderr } = spawnSync(file, args, { cwd, encoding: 'utf8' });
  const modules = stderr.split('\n').filter((url) => url.startsWith('file:'));
  const small = modules.filter((url) => /\/node_modules\/(zod|yaml|commander)\//.test(url));
  if (modules.length < 20 || modules.length > 200 || small.length > 0)
    throw new Error(`a dry run loads ${modules.length} modules, such as ${small[0] ?? modules.at(-1)}`);
}

/** The documentation of the package has a page of each kind. */
function checkSite(user: string): void {
  const site = join(user, 'node_modules/whetstone/dist/docs-static');
  for (const page of [
    'index.html',
    'tutorial.html',
    'commands/run.html',
    'config/gateway.html',
    'errors.html',
  ])
    if (!existsSync(join(site, page))) throw new Error(`the documentation has no ${page}`);
}

/** With the Vitest of the repository, which is a peer. */
function runEvalsInVitest(folder: string, node: string): void {
  for (const [name, content] of Object.entries(EVAL_PROJECT)) {
    mkdirSync(join(folder, name, '..'), { recursive: true });
    writeFileSync(join(folder, name), content);
  }
  const vitest = join(root, 'node_modules/vitest');
  const modules = join(folder, '../node_modules/vitest');
  if (!existsSync(modules)) symlinkSync(vitest, modules);
  execFileSync(node, [join(vitest, 'vitest.mjs'), 'run', '--root', folder], {
    cwd: folder,
    stdio: 'inherit',
  });
}

/** The programs of `examples/agents`, where the evaluator is not installed, with a `codex` that prints a recording. */
function runAgentExamples(user: string, node: string): void {
  const folder = mkdtempSync(join(user, 'agents-'));
  cpSync(join(root, 'examples/agents'), folder, { recursive: true });
  const bin = join(folder, 'bin');
  const sessions = join(folder, 'sessions');
  for (const made of [bin, sessions]) mkdirSync(made);
  const codex = `#!/bin/sh\ncat > prompt.txt\ncat '${join(RECORDED, 'main.stream.jsonl')}'\n`;
  writeFileSync(join(bin, 'codex'), codex, { mode: 0o755 });
  cpSync(join(RECORDED, 'main.transcript.jsonl'), join(sessions, 'rollout-1.jsonl'));
  const run = (program: string, ...args: string[]) =>
    execFileSync(node, [join(folder, program), ...args], {
      cwd: folder,
      encoding: 'utf8',
      env: { PATH: `${bin}${delimiter}${process.env.PATH}`, HOME: folder, OPENAI_API_KEY: 'test-key' },
    });
  const driven = run('drive.ts', 'codex', folder, 'Greet me.');
  if (!driven.endsWith('All done.\ncompleted, 99 output tokens\n'))
    throw new Error(`drive.ts said:\n${driven}`);
  if (readFileSync(join(folder, 'prompt.txt'), 'utf8') !== 'Greet me.')
    throw new Error('codex got no prompt');
  const read = run('transcripts.ts', sessions);
  if (!read.includes('codex-cli\t2\t12\t105025\tcompleted\t'))
    throw new Error(`transcripts.ts said:\n${read}`);
}

/** The programs that stand between Whetstone and an SDK are found by the name of their export, and run. */
function checkBridges(user: string): void {
  const { resolve } = createRequire(join(user, 'node_modules/@whetstone/agents/dist/index.js'));
  const [module] = globSync('node_modules/@whetstone/events/dist/index.js', { cwd: user });
  for (const name of ['codex-sdk', 'claude-agent-sdk', 'opencode-sdk']) {
    const args = [resolve(`@whetstone/agents/${name}-bridge`), join(user, module ?? ''), '--version'];
    const said = execFileSync(process.execPath, args, { encoding: 'utf8' });
    if (!said.startsWith('@whetstone/events ')) throw new Error(`the bridge of ${name} said: ${said}`);
  }
}

/** Runs the first example of the READMEs as it stands in the tarballs. */
async function runQuickstarts(user: string, node: string): Promise<void> {
  const script = scriptFromSteps('quickstart', [
    { calls: [{ tool: 'native', name: 'glob', input: { pattern: '*' } }] },
    { text: 'A README.' },
  ]);
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: 'quickstart', mode: { kind: 'script', script } });
  const folder = mkdtempSync(join(user, 'quickstart-'));
  for (const [name, expected] of Object.entries(QUICKSTARTS)) {
    const readme = readFileSync(join(user, 'node_modules/@whetstone', name, 'README.md'), 'utf8');
    const [, code = ''] = /```ts\n(.*?)```/s.exec(readme) ?? [];
    const program = join(folder, `${name}.ts`);
    writeFileSync(program, code);
    // Not `execFileSync`: the gateway answers from this process.
    const { stdout } = await promisify(execFile)(node, [program], {
      cwd: folder,
      env: { PATH: process.env.PATH, HOME: folder, ...lane.env },
    });
    if (!stdout.includes(expected)) throw new Error(`the quickstart of ${name} said:\n${stdout}`);
  }
}

/**
 * Checks that each package has its licence and no file of the packing, and says where it comes from in package.json and
 * in every link.
 */
function checkDocuments(user: string): void {
  const modules = join(user, 'node_modules');
  for (const folder of globSync(['whetstone', '@whetstone/*'], { cwd: modules })) {
    const read = (name: string) => readFileSync(join(modules, folder, name), 'utf8');
    const left = globSync('*unpacked*', { cwd: join(modules, folder) });
    if (left.length > 0) throw new Error(`${folder} has ${left}`);
    const { repository, homepage } = JSON.parse(read('package.json'));
    const prose = read('README.md').replaceAll(/```.*?```/gs, '');
    const links = [...prose.matchAll(/\]\((.*?)\)/g)].map(([, target = '']) => target);
    const wrong = [repository?.url.replace('git+', ''), homepage, ...links].filter(
      (address) => !String(address).startsWith('https://'),
    );
    if (wrong.length > 0 || !read('LICENSE').includes('MIT')) throw new Error(`${folder} has ${wrong}`);
  }
}

/** Checks that the types of the tarballs are complete: a consumer without `skipLibCheck` compiles. */
function checkTypes(user: string): void {
  writeFileSync(join(user, 'consumer.ts'), CONSUMER_PROGRAM);
  const options = ['--noEmit', '--strict', '--module', 'nodenext', '--target', 'es2024', '--types', 'node'];
  const folders = ['--typeRoots', join(root, 'node_modules/@types'), '--lib', 'es2024,esnext.disposable'];
  const tsc = join(root, 'node_modules/typescript/bin/tsc');
  execFileSync(process.execPath, [tsc, ...options, ...folders, 'consumer.ts'], {
    cwd: user,
    stdio: 'inherit',
  });
}
