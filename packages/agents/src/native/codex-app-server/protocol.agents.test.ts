import { execFile } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { expect, test } from 'vitest';
import { cacheFolder } from '../../../../../examples/real-agents/install.ts';
import { testedVersion } from '../../install/install-agent.ts';
import { programIn } from '../../install/installed-agents.ts';
import { comparable, generateProtocol } from './__fixtures__/generate-protocol.ts';
import { codexAppServer } from './codex-app-server.ts';

/** The update mode writes what the formatter then lays out: `vitest -u`, then Biome. */
test('our types of the protocol are those of the tested program', async () => {
  const version = testedVersion(codexAppServer);
  const program = programIn(codexAppServer, version, { XDG_CACHE_HOME: cacheFolder });
  const folder = await mkdtemp(join(tmpdir(), 'protocol-'));
  try {
    await promisify(execFile)(program, ['app-server', 'generate-ts', '--experimental', '--out', folder], {
      env: { PATH: process.env.PATH, HOME: folder },
    });
    const { types, names } = generateProtocol(folder, version);
    for (const [file, text] of [
      ['protocol.ts', types],
      ['protocol-methods.ts', names],
    ] as const) {
      const path = join(import.meta.dirname, file);
      const isCurrent = comparable(await readFile(path, 'utf8')) === comparable(text);
      if (!isCurrent) await expect(text).toMatchFileSnapshot(path);
    }
  } finally {
    await rm(folder, { recursive: true });
  }
});
