import { execFileSync } from 'node:child_process';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { SandboxRuntimeConfigSchema } from '@anthropic-ai/sandbox-runtime';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { filesOf, networkConfig } from './runtime-config.ts';
import { startScript } from './start-script.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'sandbox-runtime-test-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('what the library is told', () => {
  const own = ['/s/w-1/repo', '/s/w-1/x'];
  const place = { readable: ['/opt/tool'], folders: own, lent: ['/etc/npmrc'] };

  test.each(['darwin', 'linux'] as const)(
    'a command on %s reads a list and writes its own folders',
    (platform) => {
      const { denyRead, allowRead, allowWrite, denyWrite } = filesOf({ platform, ...place });
      const paths = (list: readonly unknown[] = []) => list.map((entry) => (entry as { path: string }).path);
      expect(paths(denyRead)).toEqual(['/']);
      expect(paths(allowRead)).toEqual(
        expect.arrayContaining(['/usr', '/bin', '/opt/tool', ...own, '/etc/npmrc']),
      );
      for (const secret of [
        '/',
        '/etc',
        '/private/etc',
        '/private/etc/master.passwd',
        '/Users',
        '/Library',
        homedir(),
      ]) {
        expect(paths(allowRead)).not.toContain(secret);
      }
      expect(paths(allowWrite)).toEqual(own);
      expect(paths(denyWrite)).toEqual(expect.arrayContaining(['/tmp/claude', `${homedir()}/.npm/_logs`]));
    },
  );

  test('only the ports of the gateway and of the proxy are open, and none of its own', () => {
    const { network } = networkConfig({ gatewayPort: 4001, proxyPort: 4002 });
    expect(network).toMatchObject({ httpProxyPort: 4001, socksProxyPort: 4002, allowedDomains: [] });
    expect(network).toMatchObject({ strictAllowlist: true, allowLocalBinding: false });
    expect(networkConfig({}).network).toMatchObject({ httpProxyPort: 1, socksProxyPort: 1 });
  });

  test('its pinned version takes these settings', () => {
    const config = {
      ...networkConfig({ gatewayPort: 4001 }),
      filesystem: filesOf({ platform: 'darwin', ...place }),
    };
    expect(SandboxRuntimeConfigSchema.safeParse(config).error).toBeUndefined();
  });
});

test('a start script gives a program its arguments and exactly its variables', () => {
  const run = (argv: string[], env: Record<string, string>) => {
    const script = join(folder, 'start');
    writeFileSync(script, startScript(argv, env));
    return execFileSync('env', ['-i', 'LEFT=x', '/bin/sh', script], { encoding: 'utf8' });
  };
  expect(run(['printf', '%s|', "a'b $(x)", '', 'c\nd'], {})).toBe("a'b $(x)||c\nd|");
  const env = { PATH: '/usr/bin:/bin', QUOTED: `it's "$HOME"\n`, 'odd.name': '1 2' };
  const printed = run(['env', '-0'], env).split('\0').filter(Boolean);
  // Set by the shell itself, and not left out by it.
  expect(printed.filter((line) => !/^(?:PWD|_|LEFT)=/.test(line)).sort()).toEqual(
    Object.entries(env)
      .map((pair) => pair.join('='))
      .sort(),
  );
});

test('the texts that no program can be given are the errors of a start', () => {
  expect(() => startScript(['true', 'a\0b'], {})).toThrow(
    expect.objectContaining({ code: 'ERR_INVALID_ARG_VALUE' }),
  );
  expect(() => startScript(['true', 'x'.repeat(200_000)], {})).toThrow(
    expect.objectContaining({ code: 'E2BIG' }),
  );
});

test('without the library the error says how to install it', () => {
  // A copy of the sources beside which only our errors are found.
  execFileSync('cp', ['-r', join(import.meta.dirname, '..'), join(folder, 'src')]);
  mkdirSync(join(folder, 'node_modules/@whetstone'), { recursive: true });
  symlinkSync(join(import.meta.dirname, '../../../errors'), join(folder, 'node_modules/@whetstone/errors'));
  const session = JSON.stringify(join(folder, 'src/sandbox-runtime/runtime-session.ts'));
  const program = `(await import(${session})).loadManager().catch(({ code, hint }) => console.log(code, hint));`;
  const printed = execFileSync(process.execPath, ['--input-type=module', '-e', program], {
    encoding: 'utf8',
  });
  expect(printed).toBe(
    'sandbox-unavailable Install it beside Whetstone: npm install @anthropic-ai/sandbox-runtime@0.0.83\n',
  );
});
