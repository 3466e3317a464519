import { WhetstoneError } from '@whetstone/errors';
import { restoreEnvironments, saveEnvironments } from '../environment/environment-archive.ts';
import { type LayerFacts, layerStore } from '../environment/layer-store.ts';
import { counted } from '../report/format.ts';
import { escapedJson } from '../report/json.ts';
import { oneLine } from '../report/sanitize.ts';
import { tableLines } from '../report/text-layout.ts';
import type { Streams } from './streams.ts';

type Output = Pick<Streams, 'stdout'>;

export function listEnvironmentsCommand({ json = false }: { json?: boolean }, { stdout }: Output): 0 {
  const layers = layerStore().list();
  if (json) {
    const shown = layers.map(({ facts: { state: _, ...facts }, directory, usedAt }) => {
      return { ...facts, last_used_at: usedAt.toISOString(), directory };
    });
    stdout.write(escapedJson(shown));
    return 0;
  }
  if (layers.length === 0) {
    stdout.write('No environment is prepared. A run prepares those that its configuration names.\n');
    return 0;
  }
  const rows = layers.map(({ facts, usedAt }) => [
    facts.key.slice(0, 12),
    megabytes(facts),
    `${facts.files}`,
    usedAt.toISOString().slice(0, 16).replace('T', ' '),
    oneLine(facts.project),
    oneLine(facts.commands.join(' && '), 60),
  ]);
  const header = ['KEY', 'SIZE', 'FILES', 'LAST USED', 'PROJECT', 'PREPARE'];
  const widthOf = (index: number) => Math.max(...[header, ...rows].map((row) => row[index]?.length ?? 0));
  const columns = header.map((_, index) => {
    return {
      width: widthOf(index),
      align: index === 1 || index === 2 ? ('right' as const) : ('left' as const),
    };
  });
  stdout.write(`${tableLines(columns, [header, ...rows]).join('\n')}\n`);
  return 0;
}

/** Exit code 1: a process uses one of them, which was left. */
export async function clearEnvironmentsCommand(
  keys: readonly string[],
  { json = false }: { json?: boolean },
  { stdout }: Output,
): Promise<0 | 1> {
  const store = layerStore();
  await store.sweep();
  const layers = store.list();
  const isKey = (key: string) => /^[0-9a-f]{4,64}$/.test(key);
  const unknown = keys.find((key) => !isKey(key) || !layers.some(({ facts }) => facts.key.startsWith(key)));
  if (unknown !== undefined) {
    const message = isKey(unknown)
      ? `No environment has a key that begins with ${unknown}.`
      : `${JSON.stringify(unknown)} is not the beginning of a key: 4 to 64 digits and letters from a to f.`;
    throw new WhetstoneError('environment-unknown', message, {
      hint: '`whetstone environments list` shows them.',
    });
  }
  const chosen = layers.filter(
    ({ facts }) => keys.length === 0 || keys.some((key) => facts.key.startsWith(key)),
  );
  const removed: LayerFacts[] = [];
  const inUse: LayerFacts[] = [];
  for (const { facts } of chosen) ((await store.remove(facts.key)) ? removed : inUse).push(facts);
  const bytes = removed.reduce((sum, facts) => sum + facts.bytes, 0);
  const names = (layers: readonly LayerFacts[]) => layers.map(({ key }) => key);
  stdout.write(
    json
      ? escapedJson({ removed: names(removed), in_use: names(inUse), bytes })
      : [
          `Removed ${counted(removed.length, 'environment')}, ${megabytes({ bytes })}.\n`,
          ...inUse.map(({ key }) => `Left ${key.slice(0, 12)}: a process uses it.\n`),
        ].join(''),
  );
  return inUse.length > 0 ? 1 : 0;
}

/** @throws WhetstoneError `output-unwritable` */
export async function saveEnvironmentsCommand(
  file: string,
  { json = false }: { json?: boolean },
  { stdout }: Output,
): Promise<0> {
  const saved = await saveEnvironments(file);
  stdout.write(json ? escapedJson({ saved: saved.map(({ key }) => key) }) : moved('Saved', saved, file));
  return 0;
}

/** @throws WhetstoneError `environment-archive-unreadable` */
export async function restoreEnvironmentsCommand(
  file: string,
  { json = false }: { json?: boolean },
  { stdout }: Output,
): Promise<0> {
  const restored = await restoreEnvironments(file);
  stdout.write(
    json ? escapedJson({ restored: restored.map(({ key }) => key) }) : moved('Restored', restored, file),
  );
  return 0;
}

const moved = (done: string, layers: readonly LayerFacts[], file: string): string =>
  `${done} ${counted(layers.length, 'environment')}, ${megabytes({ bytes: layers.reduce((sum, { bytes }) => sum + bytes, 0) })}: ${oneLine(file)}\n`;

const megabytes = ({ bytes }: Pick<LayerFacts, 'bytes'>): string => `${Math.ceil(bytes / 1e6)} MB`;
