import { element } from '../parts/element.js';
import { seconds } from '../parts/format.js';
import { badge, fold, section, table } from '../parts/parts.js';
import { log } from './logs.js';
import { parsePatch } from './patch.js';

/** @import { CaseRow } from '../../../whetstone/src/record/row.ts' */
/** @import { CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @import { CaseAddress } from './logs.js' */

/** What a line of a failed test looks like in the outputs of common test programs. */
const FAILING =
  /^\s*(?:not ok\b|✖|✗|×|FAIL\b|FAILED\b|--- FAIL|E {2,}|AssertionError|.*\bError:|.*\b[Ee]xpected\b|thread '.*' panicked)/;
/** `src/parser.js:12`, with or without a column. */
const LOCATION = /(?<path>[\w@./-]+\.\w+):(?<line>\d+)/;
const SHOWN = 24;
const AROUND = 3;

/**
 * What the clean room found. Of a command that failed, the lines that say why stand first, and beside them the lines of the
 * patch that they name.
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
            streams.map(({ file }) => file),
            files.get('patch'),
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
    commands,
    checks.length === 0
      ? null
      : table('Checks', [{ head: 'Check' }, { head: 'Status' }, { head: 'Evidence' }], checks),
  );
}

/**
 * @param {readonly CaseFile[]} outputs
 * @param {CaseFile | undefined} patch
 */
function why(outputs, patch) {
  const lines = outputs.flatMap(({ head, tail }) => `${head}\n${tail}`.split('\n'));
  const failing = failingLines(lines);
  if (failing.length === 0) return null;
  const source = patch && sourceOf(lines, patch);
  return element(
    'div',
    { class: 'why' },
    element('pre', { class: 'failing', tabindex: 0 }, failing.join('\n')),
    source
      ? element(
          'figure',
          {},
          element('figcaption', {}, source.name),
          element('pre', { tabindex: 0 }, source.lines),
        )
      : null,
  );
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

/**
 * The first line of the patch that an output names, with those around it.
 * @param {readonly string[]} lines
 * @param {CaseFile} patch
 */
function sourceOf(lines, { head }) {
  const files = parsePatch(head.split('\n'));
  for (const line of lines) {
    const { path, line: number } = LOCATION.exec(line)?.groups ?? {};
    if (path === undefined) continue;
    const name = path.replace(/^.*?\/repo\//, '').replace(/^\.?\//, '');
    const file = files.find((one) => one.name.endsWith(` b/${name}`));
    const at = file?.lines.findIndex(({ now }) => now === Number(number)) ?? -1;
    if (file === undefined || at < 0) continue;
    const near = file.lines.slice(Math.max(0, at - AROUND), at + AROUND + 1);
    return {
      name: `${name}:${number}`,
      lines: near.map((one) =>
        element(
          'span',
          { class: one.now === Number(number) ? 'here' : null },
          `${String(one.now ?? '').padStart(4)} ${one.text}\n`,
        ),
      ),
    };
  }
  return undefined;
}
