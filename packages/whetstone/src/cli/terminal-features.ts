import pico from 'picocolors';

export type Colors = ReturnType<typeof pico.createColors>;

/** Colours on a terminal, unless `NO_COLOR` or `TERM=dumb` is set. `FORCE_COLOR` wins. */
export function terminalColors(stream: NodeJS.WriteStream, environment = process.env): Colors {
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: term } = environment;
  if (force !== undefined && force !== '' && force !== '0') return pico.createColors(true);
  return pico.createColors(Boolean(stream.isTTY) && !no && term !== 'dumb');
}

/** Columns of the terminal; 100 where they are unknown. */
export const terminalWidth = (stream: NodeJS.WriteStream): number => stream.columns || 100;

/** Whether lines can be redrawn: on a terminal that knows its size, outside CI. */
export const isInteractive = (stream: NodeJS.WriteStream, environment = process.env): boolean =>
  Boolean(stream.isTTY && stream.columns && stream.rows) && !environment.CI && environment.TERM !== 'dumb';
