/** The names of the gaps that are there. */
export const gapsAmong = (gaps: Readonly<Record<string, boolean>>): string[] =>
  Object.keys(gaps).filter((gap) => gaps[gap]);
