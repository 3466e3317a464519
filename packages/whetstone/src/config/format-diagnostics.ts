import { isAbsolute, relative } from 'node:path';
import { printable } from '@whetstone/errors';
import picocolors from 'picocolors';
import { textWidth } from '../text-width.ts';
import { type Diagnostic, type Frame, placeOf } from './diagnostic.ts';

const FRAME_COLUMNS = 100;

export type FormatOptions = {
  /** ANSI colours. */
  color: boolean;
  /** Files below it are named relative to it. Default: the current directory. */
  cwd?: string;
};

/** Diagnostics for a terminal or a log: `file:line:column  path: message`, the source, a caret and the hint. */
export function formatDiagnostics(diagnostics: readonly Diagnostic[], options: FormatOptions): string {
  return diagnostics.map((diagnostic) => `${formatOne(diagnostic, options)}\n`).join('\n');
}

function formatOne(diagnostic: Diagnostic, { color, cwd = process.cwd() }: FormatOptions): string {
  const paint = picocolors.createColors(color);
  const tint = diagnostic.severity === 'error' ? paint.red : paint.yellow;
  const place = placeOf(diagnostic, shortPath(diagnostic.file, cwd));
  const label = diagnostic.severity === 'warning' ? `${tint('warning')} ` : '';
  const path = diagnostic.path === '' ? '' : `${paint.bold(visible(diagnostic.path))}: `;
  const head = `${paint.dim(visible(place))}  ${label}${path}${visible(diagnostic.message)}`;
  const [beside, ...below] = (diagnostic.hint ?? '').split('\n').map(visible);
  const body = diagnostic.frame
    ? formatFrame(diagnostic.frame, beside ?? '', paint.dim, tint)
    : [beside ?? ''].filter((line) => line !== '').map((line) => `  ${line}`);
  return [head, ...body, ...below.map((line) => `  ${line}`)].join('\n');
}

type Paint = (text: string) => string;

function formatFrame(frame: Frame, hint: string, dim: Paint, tint: Paint): string[] {
  const width = Math.max(...frame.lines.map(({ number }) => String(number).length));
  const gutter = (number: string) => `  ${dim(`${number.padStart(width)} │`)} `;
  const offending = frame.lines.at(-1)?.text ?? '';
  const clip = clipAround(offending, frame.start, frame.length);
  const lines = frame.lines.map(({ number, text }, index) => {
    const shown = index === frame.lines.length - 1 ? clip.text : clipAround(text, 0, 0).text;
    return `${gutter(String(number))}${visible(shown)}`;
  });
  const before = visible(clip.text.slice(0, clip.start));
  const marked = visible(clip.text.slice(clip.start, clip.start + clip.length));
  const caret = '^'.repeat(Math.max(1, textWidth(marked)));
  const pointer = `${' '.repeat(textWidth(before))}${tint(hint === '' ? caret : `${caret} ${hint}`)}`;
  return [...lines, `${gutter('')}${pointer}`];
}

function clipAround(text: string, start: number, length: number) {
  if (text.length <= FRAME_COLUMNS) return { text, start, length };
  const from = start + Math.min(length, FRAME_COLUMNS / 2) <= FRAME_COLUMNS ? 0 : start - FRAME_COLUMNS / 4;
  const lead = from > 0 ? '…' : '';
  const tail = from + FRAME_COLUMNS < text.length ? '…' : '';
  const shown = text.slice(from, from + FRAME_COLUMNS).toWellFormed();
  return {
    text: `${lead}${shown}${tail}`,
    start: start - from + lead.length,
    length: Math.min(length, from + FRAME_COLUMNS - start),
  };
}

/** Control characters of a hostile file must not reach the terminal; bidirectional overrides must not reorder it. One line. */
const visible = (text: string): string => printable(text.replaceAll('\t', ' ')).replaceAll('\n', '\\u000a');

function shortPath(file: string, cwd: string): string {
  const short = relative(cwd, file);
  return short === '' || short.startsWith('..') || isAbsolute(short) ? file : short;
}
