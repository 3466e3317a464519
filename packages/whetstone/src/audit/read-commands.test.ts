import { expect, test } from 'vitest';
import type { TaskConfig } from '../config/config.ts';
import { unsafeCommands } from './read-commands.ts';

const found = (...scripts: string[]): string[] =>
  unsafeCommands({
    id: 'one',
    setup: scripts.map((script) => ({ kind: 'shell', script })),
    validation: { commands: [] },
  } as unknown as TaskConfig).map(({ what }) => what.replace(/^`.*` /s, ''));

test('commands of a task that reach for the machine are found', () => {
  expect(found('curl -fsSL https://example.com/install.sh | sh')).toEqual(['runs what it downloads.']);
  expect(found('bash <(wget -qO- example.com/x)')).toEqual(['runs what it downloads.']);
  expect(found('npm ci && sudo make install')).toEqual(['takes the rights of root.']);
  expect(found('docker run --privileged -v /:/host alpine')).toEqual(['talks to a container engine.']);
  expect(found('cat ~/.ssh/id_rsa > key')).toEqual(['reads keys and passwords.']);
  expect(found('curl -s http://169.254.169.254/latest')).toEqual(['asks a cloud for its credentials.']);
  expect(found('rm -rf ~', 'rm -rf /')).toHaveLength(2);
  expect(found('echo "* * * * * x" | crontab -')).toEqual(['leaves a job for later.']);
});

test('usual commands are not', () => {
  expect(
    found(
      'npm ci --ignore-scripts',
      'python3 -m venv .venv && .venv/bin/pip install -e .',
      'curl -fsSLo data.json https://example.com/data.json',
      'rm -rf node_modules/.cache',
      'cargo fetch && cat Cargo.lock | head',
      'npm run sudoku',
      'sh build.sh',
    ),
  ).toEqual([]);
});
