import { once } from 'node:events';
import { existsSync, readFileSync } from 'node:fs';
import { createServer as createHttpServer } from 'node:http';
import { type AddressInfo, createServer } from 'node:net';
import { join } from 'node:path';
import { expect } from 'vitest';
import { makeProject, type Project } from './project.ts';

/** A stand-in for a package manager, which needs the network, and for a service, which the agent and the checks ask. */
const ENVIRONMENT = (port: number) => ({
  prepare: [
    `node -e "require('node:net').connect(${port}, '127.0.0.1').pipe(process.stdout)" > tool`,
    'chmod +x tool; echo kept > ~/kept',
  ],
  inputs: ['lock.txt'],
  services: {
    echo: {
      command: `exec node -e "require('node:net').createServer((s) => s.end('pong')).listen({port}, '127.0.0.1')"`,
    },
  },
});

const ASK = `node -e "require('node:net').connect(process.env.ECHO_PORT, process.env.ECHO_HOST).pipe(process.stdout)"`;

const CHECKS = ['./tool', `test "$(${ASK})" = pong`, 'cat from-hidden ~/kept', 'echo x >> src/a.txt'];
/** The runner writes a report. */
const TESTS = { runner: 'node-test', files: ['unit.test.js'], must_pass: ['unit.test.js > works'] };

/** `$1` is the prompt, `$2` the output directory, `$3` the address of the gateway. */
const curious = (port: number) =>
  [
    'id -u; ./tool; cat ~/kept; head -n 1 "$2/../prompt.md"; git status --porcelain; git log --format=%s',
    `${ASK}; echo`,
    'curl -sS -o /dev/null -w "%{http_code}\\n" "$3/v1/models"',
    'curl -sS http://listed.example/; echo',
    // What must fail, each with one line.
    'getent hosts registry.example || echo no name',
    'curl -sS -o /dev/null -w "%{http_code}\\n" http://unlisted.example/',
    `(echo > /dev/tcp/127.0.0.1/${port}) 2>/dev/null || echo no network`,
    'cat /etc/shadow /root/.ssh /home/* 2>/dev/null || echo no secrets',
    // An engine shows a case the path that it has on this machine.
    'ls .. / /tmp ~ | grep -v "whetstone-case-" | grep -c "hidden\\|whetstone" || true',
    'echo work >> src/a.txt; mkdir new; echo x > new/file; echo out > "$2/report"; echo > /tmp/mine',
  ].join('\n');

/**
 * Plays a case that looks for a way out of its sandbox, and expects that it finds its tree, its environment, its services and
 * the gateway, and nothing else. `sandbox`: that of the configuration. `onProject`: gets the project, to dispose of it.
 */
export async function expectSealedCase(
  { sandbox, provider, level }: { sandbox: object; provider: string; level: number },
  onProject: (project: Project) => void,
): Promise<Project> {
  const outside = createServer((socket) => socket.end('#!/bin/sh\necho from the registry\n'));
  await once(outside.listen(0, '127.0.0.1'), 'listening');
  const { port } = outside.address() as AddressInfo;
  // The way of this machine to other hosts, as in a company.
  const company = createHttpServer(({ url }, response) => response.end(`got ${url}`));
  await once(company.listen(0, '127.0.0.1'), 'listening');
  const project = makeProject({
    files: {
      'lock.txt': 'a 1.0\n',
      'src/a.txt': 'source\n',
      '.gitignore': 'tool\n',
      'unit.test.js': "require('node:test')('works', () => {});\n",
      'curious.sh': curious(port),
    },
    tasks: [
      { id: 'one', prompt: 'x', hidden_tests: 'hidden', validation: { commands: CHECKS, tests: TESTS } },
    ],
    agents: {
      curious: {
        keys: { command: ['bash', 'curious.sh', '{prompt}', '{output_dir}', '{gateway_url}'] },
        script: '',
      },
    },
    config: {
      environment: ENVIRONMENT(port),
      sandbox: { ...sandbox, hosts: ['listed.example'] },
      gateway: { mode: 'script', script: 'script.yaml' },
    },
  });
  project.write({
    'hidden/from-hidden': 'hidden\n',
    'script.yaml': 'name: none\ndefault: [{ text: ok }]\n',
  });
  onProject(project);
  const ran = await project.whetstone(['run'], {
    XDG_CACHE_HOME: join(project.root, 'cache'),
    http_proxy: `http://127.0.0.1:${(company.address() as AddressInfo).port}`,
  });
  outside.close();
  company.close();
  expect(ran).toMatchObject({ exitCode: 0 });
  const { rows, directory, manifest } = project.latest();
  expect(rows).toMatchObject([
    {
      outcome: 'passed',
      network: 'gateway-and-hosts',
      names_asked: ['registry.example'],
      host_requests: [
        { host: 'listed.example', port: 80, count: 1 },
        { host: 'unlisted.example', port: 80, count: 1, refused: 'it is not listed in `sandbox.hosts`' },
      ],
      touched_paths: ['new/file', 'src/a.txt'],
    },
  ]);
  const { probes = [] } = manifest.isolation;
  expect(ran.stderr).toContain(
    `Sandbox ${provider}, level ${level}: ${probes.length} attacks from inside were tried, and none came through`,
  );
  expect(probes.length).toBeGreaterThan(12);
  expect(probes.some(({ reached }) => reached)).toBe(false);
  expect(manifest.isolation).toMatchObject({ provider, level, network: 'gateway-and-hosts' });
  expect(readFileSync(join(directory, 'report.md'), 'utf8')).toContain(
    'The sandbox let agents reach listed.example',
  );
  const folder = join(directory, 'cases', rows[0]?.case_id ?? '');
  expect(readFileSync(join(folder, 'stdout.log'), 'utf8')).toBe(
    [process.getuid?.() === 0 ? '64300' : process.getuid?.(), 'from the registry', 'kept', 'x']
      .concat(['Initial commit', 'pong', '401', 'got http://listed.example/', 'no name', '403', 'no network', 'no secrets', '0', ''])
      .join('\n'),
  );
  expect(readFileSync(join(folder, 'output/report'), 'utf8')).toBe('out\n');
  expect(existsSync('/tmp/mine')).toBe(false);
  return project;
}
