export { parseCsv } from './csv.js';
export { formatDuration, parseDuration } from './duration.js';
export { slugify } from './slugify.js';
export { table } from './table.js';
export { truncate } from './truncate.js';
export { wrap } from './wrap.js';
