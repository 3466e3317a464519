import pico from 'picocolors';

export type Colors = ReturnType<typeof pico.createColors>;

/** Colours where a person reads them: a terminal, and neither `NO_COLOR` nor `TERM=dumb`; `FORCE_COLOR` wins. */
export function terminalColors(stream: NodeJS.WriteStream, environment = process.env): Colors {
  const { FORCE_COLOR: force, NO_COLOR: no, TERM: term } = environment;
  if (force !== undefined && force !== '' && force !== '0') return pico.createColors(true);
  return pico.createColors(Boolean(stream.isTTY) && !no && term !== 'dumb');
}

/** Columns of the terminal; 100 where there is none, or one that does not know its size. */
export const terminalWidth = (stream: NodeJS.WriteStream): number => stream.columns || 100;

/** Whether lines may be redrawn: a terminal that knows its size and is not a CI log. */
export const isInteractive = (stream: NodeJS.WriteStream, environment = process.env): boolean =>
  Boolean(stream.isTTY && stream.columns && stream.rows) && !environment.CI && environment.TERM !== 'dumb';
