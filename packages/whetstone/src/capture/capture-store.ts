import { randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { cacheFolder } from '@whetstone/agents/install';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type Capture, captureSchema } from './capture.ts';

/** `<cache>/captures/<kind>/<agent version>/<model>.json` */
export const captureFile = ({
  kind,
  agentVersion,
  model,
}: Pick<Capture, 'kind' | 'agentVersion' | 'model'>): string =>
  join(cacheFolder(), 'captures', kind, fileName(agentVersion), `${fileName(model)}.json`);

/** A name that is no path, and not hidden. */
const fileName = (text: string): string => encodeURIComponent(text).replace(/^\./, '%2E');

/** Keeps a capture, in the place of one of the same agent version and model. Returns its file. */
export async function storeCapture(capture: Capture): Promise<string> {
  const file = captureFile(capture);
  await writeCapture(file, capture);
  return file;
}

/**
 * Writes a capture for its user alone: it is an agent's own text, and may hold facts of the machine.
 * @throws WhetstoneError `capture-unwritable`
 */
export async function writeCapture(file: string, capture: Capture): Promise<void> {
  const unfinished = `${file}.${randomUUID()}`;
  try {
    await mkdir(dirname(file), { recursive: true, mode: 0o700 });
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

/** The newest kept capture of an agent and model, of whatever version of the agent. */
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

/** A file that is none of ours, or of another form, is no capture. */
async function readCapture(file: string): Promise<Capture | undefined> {
  try {
    return captureSchema.parse(JSON.parse(await readFile(file, 'utf8')));
  } catch {
    return undefined;
  }
}
