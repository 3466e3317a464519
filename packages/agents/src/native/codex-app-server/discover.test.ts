import { expect, test } from 'vitest';
import { scriptedServer, turnWith } from './__fixtures__/scripted-server.ts';
import { leadTurn } from './lead-turn.ts';

test('the catalogues of Codex are listed without paths, and one that Codex does not list is null', async () => {
  const server = scriptedServer({
    'model/list': ({ cursor }) =>
      cursor === undefined
        ? { data: [{ id: 'a', model: 'gpt-a', isDefault: true, upgrade: null }], nextCursor: 'more' }
        : { data: [{ id: 'b', model: 'gpt-b', isDefault: false }], nextCursor: null },
    'skills/list': () => ({
      data: [{ cwd: '/w', skills: [{ name: 's', scope: 'user', enabled: true, path: '/w/s' }] }],
    }),
    'plugin/list': () => ({
      marketplaces: [
        {
          name: 'local',
          path: '/m',
          plugins: [
            { name: 'tea', installed: true, enabled: true },
            { name: 'cup', installed: false },
          ],
        },
      ],
    }),
    'plugin/read': () => ({
      plugin: { skills: [{ name: 'pour', path: '/p' }], apps: [], mcpServers: ['cups'] },
    }),
    'app/list': () => ({ error: { code: -32600, message: 'needs a login' } }),
  });
  const { turn, reported, logged } = turnWith({
    options: { discover: ['models', 'skills', 'plugins', 'apps'] },
  });
  await leadTurn(server.peer, turn);
  expect(reported.discovered).toEqual({
    models: [
      { id: 'a', model: 'gpt-a', isDefault: true },
      { id: 'b', model: 'gpt-b', isDefault: false },
    ],
    skills: [{ name: 's', scope: 'user', enabled: true }],
    plugins: [
      {
        marketplace: 'local',
        name: 'tea',
        installed: true,
        enabled: true,
        skills: ['pour'],
        apps: [],
        mcpServers: ['cups'],
      },
      { marketplace: 'local', name: 'cup', installed: false },
    ],
    apps: null,
  });
  expect(server.paramsOf('plugin/read')).toEqual({ marketplacePath: '/m', pluginName: 'tea' });
  expect(logged).toEqual(['codex app-server, apps: needs a login']);
});
