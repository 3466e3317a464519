import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { rolldown } from 'rolldown';

/**
 * Makes one file of each fake agent, and resolves with their folder. To find and to link the modules, with the library of
 * the protocol 120, takes longer than what they do, and the agents start hundreds of times.
 */
export async function bundleFakes(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'fake-agents-'));
  process.on('exit', () => rmSync(folder, { recursive: true, force: true }));
  for (const name of ['fake-agent', 'fake-acp-agent']) {
    const bundle = await rolldown({ input: join(import.meta.dirname, `${name}.ts`), platform: 'node' });
    await bundle.write({ file: join(folder, `${name}.mjs`), codeSplitting: false });
    await bundle.close();
  }
  return folder;
}
