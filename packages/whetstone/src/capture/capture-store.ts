import { randomUUID } from 'node:crypto';
import { readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/cache-folder';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { makeEach } from '@whetstone/sandbox/files';
import { type Capture, captureSchema } from './capture.ts';

/** `<cache>/captures/<kind>/<agent version>/<model>.json` */
export const captureFile = ({
  kind,
  agentVersion,
  model,
}: Pick<Capture, 'kind' | 'agentVersion' | 'model'>): string =>
  join(cacheFolder(), 'captures', kind, fileName(agentVersion), `${fileName(model)}.json`);

/** A file name that is neither a path nor hidden. */
const fileName = (text: string): string => encodeURIComponent(text).replace(/^\./, '%2E');

/** Stores a capture in place of one with the same agent version and model. Resolves with its file. */
export async function storeCapture(capture: Capture): Promise<string> {
  const file = captureFile(capture);
  await writeCapture(file, capture);
  return file;
}

/**
 * Writes a capture so that only its user can read it: it may contain facts about the machine.
 * @throws WhetstoneError `capture-unwritable`
 */
export async function writeCapture(file: string, capture: Capture): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    makeEach(dirname(file), 0o700);
    await writeFile(unfinished, `${JSON.stringify(capture, null, 2)}\n`, { mode: 0o600 });
    await rename(unfinished, file);
  } catch (error) {
    await rm(unfinished, { force: true }).catch(() => undefined);
    throw new WhetstoneError('capture-unwritable', `The capture cannot be written: ${messageOf(error)}`, {
      where: file,
      cause: error,
    });
  }
}

/** The newest stored capture of an agent and model, of any version of the agent. */
export async function newestCapture(kind: Capture['kind'], model: string): Promise<Capture | undefined> {
  const folder = join(cacheFolder(), 'captures', kind);
  const versions = await readdir(folder).catch(() => []);
  const captures = await Promise.all(
    versions.map((version) => readCapture(join(folder, version, `${fileName(model)}.json`))),
  );
  return captures
    .filter((capture) => capture !== undefined)
    .sort((left, right) => right.capturedAt.localeCompare(left.capturedAt))[0];
}

async function readCapture(file: string): Promise<Capture | undefined> {
  const text = await readFile(file, 'utf8').catch(() => '');
  return captureSchema.safeParse(parseJson(text)).data;
}
