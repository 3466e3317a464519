import { askSource, isFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { seconds } from '../parts/format.js';
import { badge, fold, section, table } from '../parts/parts.js';
import { placesIn, sourceInPatch } from './failed-place.js';
import { log } from './logs.js';

/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */
/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { FailedPlace, Source } from './failed-place.js' */
/** @import { CaseAddress } from './logs.js' */

/** What a line of a failed test looks like in the outputs of common test programs. */
const FAILING =
  /^\s*(?:not ok\b|✖|✗|×|FAIL\b|FAILED\b|--- FAIL|E {2,}|AssertionError|.*\bError:|.*\b[Ee]xpected\b|thread '.*' panicked)/;
const SHOWN = 24;
/** Places that an output names and that are looked up. */
const PLACES_TRIED = 8;

/**
 * What the clean room found. Of a command that failed, the lines that say why stand first, and beside them the lines of the
 * patch that they name, or else those of a file as the agent left it.
 * @param {CaseAddress} place
 * @param {CaseRow} row
 * @param {ReadonlyMap<string, CaseFile>} files
 */
export function verification(place, row, files) {
  if (row.validation_results.length === 0 && row.hard_evaluation.length === 0) return null;
  const commands = row.validation_results.map((result, index) => {
    const isPassed = result.ended === 'exit' && result.exit_code === 0;
    const end = result.ended === 'exit' ? `exit ${result.exit_code}` : result.ended;
    const streams = ['stdout', 'stderr'].flatMap((stream) => {
      const file = files.get(`validation-${index}-${stream}`);
      return file ? [{ stream, file }] : [];
    });
    const logs = streams.map(({ stream, file }) => [element('h3', {}, stream), log(place, file)]);
    const title = [
      badge(end, isPassed ? 'passed' : 'failed'),
      ' ',
      element('code', {}, result.command),
      ` ${seconds(result.duration_seconds)}`,
    ];
    return fold(
      `validation ${index}`,
      title,
      !isPassed,
      isPassed
        ? null
        : why(
            place,
            streams.map(({ file }) => file),
            files.get('patch'),
            row.protected_paths_touched,
          ),
      logs.length > 0 ? logs : element('p', { class: 'note' }, 'It printed nothing.'),
    );
  });
  const checks = row.hard_evaluation.map((check) => [
    check.name,
    badge(check.status, check.status),
    check.evidence,
  ]);
  return section(
    'Verification',
    row.protected_paths_touched.length === 0
      ? null
      : element(
          'p',
          { class: 'note' },
          `Protected paths that the agent changed, put back before verification: ${row.protected_paths_touched.join(', ')}`,
        ),
    commands,
    checks.length === 0
      ? null
      : table('Checks', [{ head: 'Check' }, { head: 'Status' }, { head: 'Evidence' }], checks),
  );
}

/**
 * @param {CaseAddress} place
 * @param {readonly CaseFile[]} outputs
 * @param {CaseFile | undefined} patch
 * @param {readonly string[]} putBack Paths whose changes the clean room left out.
 */
function why(place, outputs, patch, putBack) {
  const lines = outputs.flatMap(({ head, tail }) => `${head}\n${tail}`.split('\n'));
  const failing = failingLines(lines);
  if (failing.length === 0) return null;
  const places = placesIn(lines, putBack);
  const source = patch && sourceInPatch(places, patch.head);
  const both = element(
    'div',
    { class: 'why' },
    element('pre', { class: 'failing', tabindex: 0 }, failing.join('\n')),
    source ? figure(source) : null,
  );
  if (!source && !isFile) void addSource(both, place, places);
  return both;
}

/** @param {Source} source */
const figure = ({ name, lines }) =>
  element(
    'figure',
    {},
    element('figcaption', {}, name),
    element(
      'pre',
      { tabindex: 0 },
      lines.map(({ number, text, isHere }) =>
        element('span', { class: isHere ? 'here' : null }, `${String(number ?? '').padStart(4)} ${text}\n`),
      ),
    ),
  );

/**
 * Shows the first place that the output names in a file that the agent did not change there.
 * @param {HTMLElement} both
 * @param {CaseAddress} place
 * @param {readonly FailedPlace[]} places
 */
async function addSource(both, place, places) {
  const named = new Map(places.map((one) => [`${one.path}:${one.line}`, one]));
  for (const [name, one] of [...named].slice(0, PLACES_TRIED)) {
    const found = await askSource(place.run, place.case, one).catch(() => null);
    if (found === null) continue;
    const shown = found.lines.map((text, index) => {
      const number = found.first + index;
      return { number, text: ` ${text}`, isHere: number === found.line };
    });
    both.append(figure({ name, lines: shown }));
    return;
  }
}

/**
 * The lines that look like a failure, each with what is indented below it.
 * @param {readonly string[]} lines
 */
function failingLines(lines) {
  /** @type {string[]} */
  const failing = [];
  let isBelow = false;
  for (const line of lines) {
    isBelow = FAILING.test(line) || (isBelow && /^\s/.test(line));
    if (isBelow) failing.push(line);
    if (failing.length === SHOWN) break;
  }
  return failing;
}
