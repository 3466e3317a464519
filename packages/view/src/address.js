/**
 * Where the page is: its hash.
 * @typedef {{ page: 'runs' } | { page: 'run', run: string } | { page: 'case', run: string, case: string } | { page: 'unknown' }} Address
 */

/**
 * @param {string} hash
 * @returns {Address}
 */
export function parseAddress(hash) {
  const segments = decoded(hash.replace(/^#?\/?/, ''));
  if (segments === null) return { page: 'unknown' };
  const [runs = '', run, cases, caseId, ...more] = segments;
  if (runs === '' && segments.length === 1) return { page: 'runs' };
  if (runs !== 'runs' || run === undefined || more.length > 0) return { page: 'unknown' };
  if (cases === undefined) return { page: 'run', run };
  return cases === 'cases' && caseId !== undefined
    ? { page: 'case', run, case: caseId }
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

/** @param {string} run */
export const runAddress = (run) => `#/runs/${encoded(run)}`;

/**
 * @param {string} run
 * @param {string} caseId
 */
export const caseAddress = (run, caseId) => `${runAddress(run)}/cases/${encoded(caseId)}`;

/** Half of a surrogate pair cannot be encoded, and must not break the page. @param {string} name */
const encoded = (name) => encodeURIComponent(name.toWellFormed());
