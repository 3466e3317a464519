/** @import { SideName } from './address.js' */
/** @import { RunComparison } from '../../../whetstone/src/report/run-comparison.ts' */
/** @import { CallBodies, CaseDetail, CaseFile, ChangedFile, ProjectState, RunDetail, RunLabels, RunList, SourceLines } from '../../../whetstone/src/view/api.ts' */

/** The server refused a request or could not read a file (the message is the server's), or it does not answer. */
export class AnswerError extends Error {}

/** @type {Map<string, { tag: string | null, answer: unknown }>} */
const known = new Map();
const ANSWERS_KEPT = 16;

/** The answers that are part of this file, by name. Empty for a page that a server sent. @type {Map<string, Element>} */
const parts = new Map(
  [...document.querySelectorAll('script[data-part]')].map((part) => [
    new TextDecoder().decode(bytesOf(part.getAttribute('data-part') ?? '')),
    part,
  ]),
);

/** Whether the page is a file with everything in it, and there is no server. */
export const isFile = parts.size > 0;

/** @param {string} base64 */
function bytesOf(base64) {
  return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0));
}

/**
 * The answer that a server would give, from this file.
 * @param {string[]} segments
 */
async function lookUp([, run, , caseId, file]) {
  if (run === undefined) return partOf('runs');
  if (run !== (await partOf('runs')).runs[0].id) throw new AnswerError('This file has another run.');
  if (caseId === undefined) return partOf('run');
  const { detail, files } = await partOf(`case ${caseId}`);
  return file === undefined ? detail : files[file];
}

/**
 * @param {string} name
 * @returns {Promise<any>}
 */
async function partOf(name) {
  const part = parts.get(name);
  if (part === undefined) throw new AnswerError('There is no such thing here.');
  const before = known.get(name);
  if (before) return before.answer;
  const packed = new Blob([bytesOf(part.textContent ?? '')]).stream();
  const answer = await new Response(packed.pipeThrough(new DecompressionStream('gzip'))).json();
  keep(name, { tag: null, answer });
  return answer;
}

/**
 * @param {string} name
 * @param {{ tag: string | null, answer: unknown }} entry
 */
function keep(name, entry) {
  known.delete(name);
  known.set(name, entry);
  const [oldest] = known.keys();
  if (known.size > ANSWERS_KEPT && oldest !== undefined) known.delete(oldest);
}

/**
 * Asks the server. While the answer stays the same, this returns the same object, so that a caller can compare by `===`.
 * @param {string[]} segments
 * @returns {Promise<unknown>}
 */
function ask(...segments) {
  return isFile ? lookUp(segments) : askServer(`/api/${segments.map(encodeURIComponent).join('/')}`);
}

/**
 * @param {string} path
 * @returns {Promise<unknown>}
 */
async function askServer(path) {
  const before = known.get(path);
  const response = await fetch(path, before?.tag ? { headers: { 'If-None-Match': before.tag } } : {}).catch(
    () => {
      throw new AnswerError('The server does not answer: is "whetstone view" still running?');
    },
  );
  if (response.status === 304 && before) return before.answer;
  if (!response.ok) throw new AnswerError(await problem(response));
  const answer = await response.json();
  keep(path, { tag: response.headers.get('ETag'), answer });
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

/**
 * A changed file as it was before and after.
 * @param {string} run
 * @param {string} caseId
 * @param {number} index In the patch.
 */
export const askChangedFile = (run, caseId, index) =>
  /** @type {Promise<ChangedFile>} */ (
    askServer(addressOf('runs', run, 'cases', caseId, 'patch', 'files', String(index)))
  );

/**
 * The lines around one of a file as the agent left it; `null`: there is no such line.
 * @param {string} run
 * @param {string} caseId
 * @param {{ path: string, line: number }} place
 */
export const askSource = (run, caseId, { path, line }) =>
  /** @type {Promise<SourceLines | null>} */ (
    askServer(
      `${addressOf('runs', run, 'cases', caseId, 'source')}?${new URLSearchParams({ path, line: String(line) })}`,
    )
  );

/**
 * What was in a model call. @throws AnswerError when it was not kept
 * @param {string} run
 * @param {string} caseId
 * @param {string} call The id of its ledger line.
 * @param {string} [compareAs] The family of the agent: without what differs in every session.
 */
export const askCallBodies = (run, caseId, call, compareAs) =>
  /** @type {Promise<CallBodies>} */ (
    askServer(
      `${addressOf('runs', run, 'cases', caseId, 'exchanges', call)}${compareAs ? `?${new URLSearchParams({ 'compare-as': compareAs })}` : ''}`,
    )
  );

/**
 * Where a body of a model call is, as it was kept.
 * @param {string} run
 * @param {string} caseId
 * @param {string} call
 * @param {'request' | 'reply'} which
 */
export const bodyAddress = (run, caseId, call, which) =>
  addressOf('runs', run, 'cases', caseId, 'exchanges', call, which);

/** @param {string} address */
export async function askText(address) {
  const response = await fetch(address).catch(() => undefined);
  if (!response?.ok) throw new AnswerError('The server did not answer.');
  return response.text();
}

/** @param {...string} segments */
const addressOf = (...segments) =>
  `/api/${segments.map((segment) => encodeURIComponent(segment.toWellFormed())).join('/')}`;

/**
 * @param {SideName} a
 * @param {SideName} b
 */
export function askComparison(a, b) {
  const query = new URLSearchParams({ a: a.run, b: b.run });
  if (a.arm) query.set('arm-a', a.arm);
  if (b.arm) query.set('arm-b', b.arm);
  if (isFile) throw new AnswerError('Only whetstone view compares; this is one file.');
  return /** @type {Promise<RunComparison>} */ (askServer(`/api/compare?${query}`));
}

/** @type {string} */
let key = '';

/**
 * Takes the key for requests that change something out of the address that the server sent the browser to, and keeps it
 * where no other port of this machine has access.
 */
export function keepKey() {
  const given = new URLSearchParams(location.search).get('key');
  try {
    if (given !== null) localStorage.setItem('key', given);
    key = localStorage.getItem('key') ?? '';
  } catch {
    key = given ?? '';
  }
  if (given !== null) history.replaceState(null, '', `/${location.hash}`);
}

/**
 * Asks the server to change or to start something.
 * @param {unknown} body
 * @param {...string} segments
 * @returns {Promise<any>}
 */
export async function act(body, ...segments) {
  const response = await fetch(`/api/${segments.map(encodeURIComponent).join('/')}`, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', 'X-Whetstone-Key': key },
    body: JSON.stringify(body),
  }).catch(() => {
    throw new AnswerError('The server does not answer: is "whetstone view" still running?');
  });
  if (!response.ok) throw new AnswerError(await problem(response));
  return response.json();
}

export const askProject = () => /** @type {Promise<ProjectState>} */ (ask('project'));

/** @param {string} run */
export const askLabels = (run) =>
  isFile
    ? Promise.resolve(/** @type {RunLabels} */ ({ labels: [], agreement: null, problem: null }))
    : /** @type {Promise<RunLabels>} */ (ask('runs', run, 'labels'));

/**
 * Where the bytes of a file are, as they are; `null` when there is no server.
 * @param {string} run
 * @param {string} caseId
 * @param {string} name
 */
export const rawAddress = (run, caseId, name) =>
  isFile ? null : addressOf('runs', run, 'cases', caseId, name, 'raw');

/**
 * A range of the bytes of a file as text.
 * @param {string} address
 * @param {number} from
 * @param {number} to The byte after the last.
 */
export async function askRange(address, from, to) {
  const response = await fetch(address, { headers: { Range: `bytes=${from}-${to - 1}` } }).catch(
    () => undefined,
  );
  if (!response?.ok) throw new AnswerError('The server did not answer.');
  return new TextDecoder().decode(await response.arrayBuffer());
}
