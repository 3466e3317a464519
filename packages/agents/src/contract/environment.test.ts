import { expect, test } from 'vitest';
import { contractRows } from './__fixtures__/rows.ts';
import { openStage, teamSecret, userSecret } from './__fixtures__/stage.ts';

// A program, a server, a protocol and the bridge of an SDK: each is given its environment in its own way.
const rows = contractRows.filter(({ name }) =>
  ['codex-cli', 'codex-app-server', 'acp', 'codex-sdk'].includes(name),
);

test.each(rows)('$name: only environment: inherit passes the environment of the user on', async (row) => {
  await using stage = await openStage(row);
  // Codex has no read-only sandbox with a network, and an agent over the protocol is held to none.
  const network = row.name === 'acp' ? {} : ({ network: 'off' } as const);
  const { seen } = await stage.play('task', { permissions: { filesystem: 'read-only', ...network } });
  const minimal = (await seen()).environment;
  expect(minimal).not.toHaveProperty('SOMETHING_OF_THE_USER');
  expect(minimal).not.toHaveProperty('TEAM_SECRET');

  const open = await stage.play('task', {
    permissions: { environment: 'inherit' },
    env: { CONTRACT_SECRET: `\${TEAM_SECRET}` },
  });
  const { environment, homeDirectory } = await open.seen();
  expect(environment).toMatchObject({ SOMETHING_OF_THE_USER: userSecret, TEAM_SECRET: teamSecret });
  // Its home and its temporary folder stay its own, and a secret of the user is not kept.
  expect(homeDirectory).toBe(open.attempt.sandbox.home);
  expect(environment.TMPDIR).not.toBe(process.env.TMPDIR ?? '/tmp');
  expect(await open.kept()).not.toContain(teamSecret);
});
