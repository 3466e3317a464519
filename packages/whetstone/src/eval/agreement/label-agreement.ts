import { WhetstoneError } from '@whetstone/errors';
import { isJsonObject, parseJson } from '@whetstone/events';
import { cohenKappa, type Kappa } from '../../stats/cohen-kappa.ts';

/** How far a judge agrees with people. */
export type LabelAgreement = Kappa & {
  /** Items with two labels that differ, in the order of the file. */
  disagreements: { id: string; human: string; judge: string }[];
  /** Items without a label of the judge. They are not in any count. */
  missing: string[];
};

/**
 * Compares the labels of a judge with those of people. `labels` is JSON Lines, one item per line:
 * `{"id": "refund-1", "human": "good", "judge": "bad"}`; labels may also be numbers or booleans. `judged` has the judge's
 * labels by id, instead of those in the file.
 * @throws WhetstoneError `labels-invalid` for a line without an id or a human label, an id that is there twice, and a
 * file without any item that both have labelled
 */
export function labelAgreement(
  labels: string,
  { judged, file = 'labels' }: { judged?: Readonly<Record<string, string>>; file?: string } = {},
): LabelAgreement {
  const items = readLabels(labels, file).map(({ id, human, judge }) => ({
    ...{ id, human },
    judge: judged ? (Object.hasOwn(judged, id) ? judged[id] : undefined) : judge,
  }));
  const compared = items.flatMap(({ id, human, judge }) => (judge === undefined ? [] : { id, human, judge }));
  const missing = items.filter(({ judge }) => judge === undefined).map(({ id }) => id);
  if (compared.length === 0) {
    throw new WhetstoneError('labels-invalid', 'No item has a label of a person and one of the judge.', {
      where: file,
    });
  }
  return {
    ...cohenKappa(compared.map(({ human, judge }) => [human, judge])),
    disagreements: compared.filter(({ human, judge }) => human !== judge),
    missing,
  };
}

function readLabels(text: string, file: string): { id: string; human: string; judge: string | undefined }[] {
  const seen = new Set<string>();
  return text.split('\n').flatMap((line, index) => {
    if (line.trim() === '') return [];
    const where = `${file}:${index + 1}`;
    const item = parseJson(line);
    const fields = isJsonObject(item) ? item : {};
    const [id, human] = [labelIn(fields.id), labelIn(fields.human)];
    if (id === undefined || human === undefined) {
      throw new WhetstoneError('labels-invalid', 'The line has no "id" or no "human".', { where });
    }
    if (seen.has(id)) throw new WhetstoneError('labels-invalid', `The id "${id}" is there twice.`, { where });
    seen.add(id);
    return [{ id, human, judge: labelIn(fields.judge) }];
  });
}

const labelIn = (value: unknown): string | undefined =>
  typeof value === 'string' || typeof value === 'number' || typeof value === 'boolean'
    ? String(value)
    : undefined;
