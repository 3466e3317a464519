import type { Row, Table } from './benchmark.ts';

/** A sentence for each of our rows that a peer beats in some column. In every column, less is better. */
export function whereWeLose({ caption, columns, rows }: Table): string[] {
  const isOurs = ({ subject }: Row) => subject.startsWith('whetstone');
  const peers = rows.filter((row) => !isOurs(row));
  return rows.filter(isOurs).flatMap((ours) => {
    const lost = columns.flatMap(({ name }, index) => {
      const value = ours.values[index];
      const better = peers.filter((peer) => isLess(peer.values[index], value));
      return better.length === 0 ? [] : [`${name} (${better.map(({ subject }) => subject).join(', ')})`];
    });
    return lost.length === 0 ? [] : [`${caption}: ${ours.subject} is beaten in ${lost.join(', ')}.`];
  });
}

function isLess(peer: Row['values'][number], ours: Row['values'][number]): boolean {
  return typeof peer === 'number' && typeof ours === 'number' && peer < ours;
}
