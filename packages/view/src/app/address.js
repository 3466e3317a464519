/**
 * Where the page is: its hash. `params` is what the reader chose there, such as filters.
 * @typedef {{ page: 'runs' }
 *   | { page: 'run', run: string, params: URLSearchParams }
 *   | { page: 'case', run: string, case: string, params: URLSearchParams }
 *   | { page: 'start' }
 *   | { page: 'compare', params: URLSearchParams }
 *   | { page: 'pair', a: CaseName, b: CaseName }
 *   | { page: 'unknown' }} Address
 * @typedef {{ run: string, case: string }} CaseName
 * @typedef {{ run: string, arm?: string | undefined }} SideName `arm`: a variant, an agent, or `AGENT/VARIANT`; absent: the whole run.
 */

/**
 * @param {string} hash
 * @returns {Address}
 */
export function parseAddress(hash) {
  const [path = '', query = ''] = hash.replace(/^#?\/?/, '').split(/\?(.*)/s);
  const segments = decoded(path);
  if (segments === null) return { page: 'unknown' };
  const params = new URLSearchParams(query);
  if (path === 'start') return { page: 'start' };
  if (path === 'compare') return { page: 'compare', params };
  if (segments[0] === 'side-by-side' && segments.length === 5) {
    const [, runA = '', caseA = '', runB = '', caseB = ''] = segments;
    return { page: 'pair', a: { run: runA, case: caseA }, b: { run: runB, case: caseB } };
  }
  const [runs = '', run, part, name, ...more] = segments;
  if (runs === '' && segments.length === 1) return { page: 'runs' };
  if (runs !== 'runs' || run === undefined || more.length > 0) return { page: 'unknown' };
  if (part === undefined) return { page: 'run', run, params };
  return part === 'cases' && name !== undefined
    ? { page: 'case', run, case: name, params }
    : { page: 'unknown' };
}

/** @param {string} path */
function decoded(path) {
  try {
    return path.split('/').map(decodeURIComponent);
  } catch {
    return null;
  }
}

/**
 * @param {string} run
 * @param {Record<string, string>} [params] Empty ones are left out.
 */
export const runAddress = (run, params = {}) => `#/runs/${encoded(run)}${queryOf(params)}`;

/**
 * @param {string} run
 * @param {string} caseId
 */
export const caseAddress = (run, caseId) => `#/runs/${encoded(run)}/cases/${encoded(caseId)}`;

/**
 * @param {SideName} a
 * @param {SideName} b
 */
export const compareAddress = (a, b) =>
  `#/compare${queryOf({ a: a.run, 'arm-a': a.arm ?? '', b: b.run, 'arm-b': b.arm ?? '' })}`;

/**
 * @param {CaseName} a
 * @param {CaseName} b
 */
export const pairAddress = (a, b) =>
  `#/side-by-side/${[a.run, a.case, b.run, b.case].map(encoded).join('/')}`;

/** @param {Record<string, string>} params */
function queryOf(params) {
  const chosen = Object.entries(params).filter(([, value]) => value !== '');
  return chosen.length === 0 ? '' : `?${new URLSearchParams(chosen)}`;
}

/** Half of a surrogate pair cannot be encoded, and must not break the page. @param {string} name */
const encoded = (name) => encodeURIComponent(name.toWellFormed());
