/** @import { CaseDetail, CaseFile, RunDetail, RunList } from '../../../whetstone/src/view/api.ts' */

/** The server refused a request or could not read a file (the message is the server's), or it does not answer. */
export class AnswerError extends Error {}

/** @type {Map<string, { tag: string | null, answer: unknown }>} */
const known = new Map();
const ANSWERS_KEPT = 16;

/**
 * Asks the server. While the answer stays the same, this returns the same object, so that a caller can compare by `===`.
 * @param {string[]} segments
 * @returns {Promise<unknown>}
 */
async function ask(...segments) {
  const path = `/api/${segments.map(encodeURIComponent).join('/')}`;
  const before = known.get(path);
  const response = await fetch(path, before?.tag ? { headers: { 'If-None-Match': before.tag } } : {}).catch(
    () => {
      throw new AnswerError('The server does not answer: is "whetstone view" still running?');
    },
  );
  if (response.status === 304 && before) return before.answer;
  if (!response.ok) throw new AnswerError(await problem(response));
  const answer = await response.json();
  known.delete(path);
  known.set(path, { tag: response.headers.get('ETag'), answer });
  const [oldest] = known.keys();
  if (known.size > ANSWERS_KEPT && oldest !== undefined) known.delete(oldest);
  return answer;
}

/** @param {Response} response */
async function problem(response) {
  const body = await response.text();
  try {
    return String(JSON.parse(body).error);
  } catch {
    return body;
  }
}

export const askRuns = () => /** @type {Promise<RunList>} */ (ask('runs'));

/** @param {string} run */
export const askRun = (run) => /** @type {Promise<RunDetail>} */ (ask('runs', run));

/**
 * @param {string} run
 * @param {string} caseId
 */
export const askCase = (run, caseId) =>
  /** @type {Promise<CaseDetail>} */ (ask('runs', run, 'cases', caseId));

/**
 * @param {string} run
 * @param {string} caseId
 * @param {string} name
 */
export const askCaseFile = (run, caseId, name) =>
  /** @type {Promise<CaseFile>} */ (ask('runs', run, 'cases', caseId, name));
