import type { CaseRow } from '../record/row.ts';
import type { Summary } from './summary.ts';

/** Characters that a terminal acts on or that mislead a reader, and that JSON does not escape itself. */
const UNSAFE = /[\u007f-\u009f\u2028\u2029]|\p{Bidi_Control}/gu;

/** Indented JSON with a newline at the end, control characters and direction overrides escaped: safe to print. */
export function escapedJson(value: unknown): string {
  const json = JSON.stringify(value, null, 2);
  return `${json.replace(UNSAFE, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`)}\n`;
}

/** What `report --json` prints: `schema/report.schema.json` of the package describes it. `cases`: in planned order. */
export type JsonReport = {
  $schema: string;
  schema_version: '1';
  summary: Summary;
  cases: readonly CaseRow[];
};

/** The name of the schema of a report, which is its `$id`. */
const REPORT_SCHEMA = 'urn:whetstone:schema:report:1';

/** A `JsonReport`, escaped as `escapedJson` does. */
export function renderJson(summary: Summary, rows: readonly CaseRow[]): string {
  const report: JsonReport = { $schema: REPORT_SCHEMA, schema_version: '1', summary, cases: rows };
  return escapedJson(report);
}
