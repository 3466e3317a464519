import { transcriptItems } from '../case/transcript-items.js';
import { asText, field } from '../parts/json-lines.js';

/**
 * A tool call or a delegation. `key`: equal for equal calls with equal input. `said`: what the agent wrote before it.
 * `index`: of its event, from 0.
 * @typedef {{ key: string, name: string, input: string, output: string, status: string, said: string, index: number }} Step
 */
/** What two agents did at the same point; a side is absent where only the other did something. @typedef {{ a?: Step, b?: Step, isSame: boolean }} StepRow */
/** The function of the package `diff`. @typedef {(a: string[], b: string[], options: { maxEditLength: number }) => { value: string[], added: boolean, removed: boolean }[] | undefined} DiffArrays */

/** Sequences that differ in more places than this are paired one by one. */
const MOST_EDITS = 600;

/**
 * @param {readonly Record<string, unknown>[]} events
 * @returns {Step[]}
 */
export function stepsOf(events) {
  /** @type {Step[]} */
  const steps = [];
  let said = '';
  for (const { event, result, index } of transcriptItems(events)) {
    if (event.type === 'message' && event.role === 'assistant') said = asText(event.text);
    if (event.type !== 'action.called' && event.type !== 'subagent.called') continue;
    const name = asText(event.name) || asText(event.type);
    steps.push({
      key: withoutWorkspace(JSON.stringify([name, sorted(event.input)])),
      name,
      input: withoutWorkspace(firstText(event.input)),
      output: asText(field(result?.output, 'output') ?? result?.output),
      status: result === undefined ? 'no result' : asText(result.status),
      said,
      index,
    });
    said = '';
  }
  return steps;
}

/**
 * Each case has a workspace of its own, `…/w-8017ffdea49a/repo`. Its path is not something that an agent did.
 * @param {string} text
 */
export const withoutWorkspace = (text) =>
  text.replace(/[^\s"'`=:,;()]*\/w-[0-9a-f]{8,}\/repo(\/|\b)/g, (_, slash) => (slash === '/' ? '' : '.'));

/** Fields in the order of their names, so that two agents that write them in another order agree. @param {unknown} value @returns {unknown} */
function sorted(value) {
  if (Array.isArray(value)) return value.map(sorted);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([name, inner]) => [name, sorted(inner)]),
  );
}

/** @param {unknown} input */
function firstText(input) {
  const values = typeof input === 'object' && input !== null ? Object.values(input) : [input];
  return asText(values.find((value) => typeof value === 'string') ?? input);
}

/**
 * Two sequences of steps beside each other: equal ones in one row, and between them what each did instead.
 * @param {readonly Step[]} a
 * @param {readonly Step[]} b
 * @param {DiffArrays} diff
 * @returns {StepRow[]}
 */
export function alignSteps(a, b, diff) {
  const parts = diff(
    a.map(({ key }) => key),
    b.map(({ key }) => key),
    { maxEditLength: MOST_EDITS },
  );
  if (parts === undefined) return zip(a, b);
  /** @type {StepRow[]} */
  const rows = [];
  let [ofA, ofB] = [0, 0];
  /** @type {{ a: Step[], b: Step[] }} */
  let open = { a: [], b: [] };
  const close = () => {
    rows.push(...zip(open.a, open.b));
    open = { a: [], b: [] };
  };
  for (const { value, added, removed } of parts) {
    const count = value.length;
    const [nextOfA, nextOfB] = [a.slice(ofA, ofA + count), b.slice(ofB, ofB + count)];
    if (!added) ofA += count;
    if (!removed) ofB += count;
    if (removed) open.a.push(...nextOfA);
    else if (added) open.b.push(...nextOfB);
    else {
      close();
      rows.push(...zip(nextOfA, nextOfB));
    }
  }
  close();
  return rows;
}

/**
 * @param {readonly Step[]} a
 * @param {readonly Step[]} b
 */
const zip = (a, b) => Array.from({ length: Math.max(a.length, b.length) }, (_, i) => row(a[i], b[i]));

/**
 * @param {Step | undefined} a
 * @param {Step | undefined} b
 * @returns {StepRow}
 */
const row = (a, b) => ({ ...(a && { a }), ...(b && { b }), isSame: a?.key === b?.key });

/**
 * Where two agents part, in a sentence.
 * @param {readonly StepRow[]} rows
 */
export function firstDivergence(rows) {
  const at = rows.findIndex(({ isSame }) => !isSame);
  const steps = (/** @type {number} */ count) => `${count} equal tool call${count === 1 ? '' : 's'}`;
  if (rows.length === 0) return { at: -1, sentence: 'Neither called a tool.' };
  if (at < 0)
    return {
      at,
      sentence: `Both made the same ${rows.length === 1 ? 'tool call' : `${rows.length} tool calls in the same order`}.`,
    };
  const { a, b } = rows[at] ?? {};
  const did = (/** @type {Step | undefined} */ step) =>
    step === undefined ? 'nothing more at this point' : `${step.name} ${short(step.input)}`.trim();
  const after = at === 0 ? 'From the first tool call on' : `After ${steps(at)}`;
  return { at, sentence: `${after}: A did ${did(a)}; B did ${did(b)}.`.replace(/…\.$/, '…') };
}

/** @param {string} text */
function short(text) {
  // The first line of a patch says nothing.
  const [line = ''] = text
    .slice(0, 400)
    .replace(/^\s*\*\*\* Begin Patch\n/, '')
    .trim()
    .split('\n');
  return line.length > 80 || line.length < text.trim().length ? `${line.slice(0, 80)} …` : line;
}
