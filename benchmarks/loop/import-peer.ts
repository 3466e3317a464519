import { join } from 'node:path';
import { pathToFileURL } from 'node:url';

/** Where the peers are installed. The copies that `cold.ts` measures lie elsewhere, so this says where. */
export const PEERS_FOLDER = process.env.LOOP_PEERS ?? join(import.meta.dirname, '../../.cache/loop-peers');

/** A package of the peers' folder. `T` is the part that the caller uses; it is not checked. */
export async function importPeer<T>(name: string): Promise<T> {
  return await import(pathToFileURL(join(PEERS_FOLDER, 'node_modules', name, 'dist/index.js')).href);
}
