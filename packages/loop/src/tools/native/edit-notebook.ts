import { messageOf } from '@whetstone/errors';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { lineEndOf } from '../../files/text-file.ts';
import { type JsonNode, layOutJson, type Splice, splice } from './json-layout.ts';

export type CellEdit = {
  cell_id?: string;
  new_source: string;
  cell_type?: 'code' | 'markdown';
  /** Default `replace`. */
  edit_mode?: 'replace' | 'insert' | 'delete';
};

/** The notebook's new text, and what was done. */
export type EditedNotebook = { text: string; report: string };

/** Changes one cell of a notebook and leaves every byte of the others. Throws, with what the model can do, if unclear. */
export function editNotebook(text: string, path: string, edit: CellEdit): EditedNotebook {
  const { edit_mode: mode = 'replace', cell_id: id, cell_type: type, new_source: source } = edit;
  const notebook = readNotebook(text, path);
  if (mode === 'insert') {
    if (type === undefined) throw new Error('insert needs a cell_type.');
    return insertCell(notebook, id === undefined ? 0 : findCell(notebook, id) + 1, type, source);
  }
  if (id === undefined) throw new Error(`${mode} needs a cell_id.`);
  const index = findCell(notebook, id);
  return mode === 'delete'
    ? { text: withoutCell(notebook, index), report: `Deleted cell ${id}` }
    : { text: withSource(notebook, index, source, type), report: `Replaced the source of cell ${id}` };
}

type Notebook = ReturnType<typeof readNotebook>;
type Cell = { node: JsonNode & { kind: 'object' }; value: JsonObject };

/** How the file is written: one step of indentation (none where it is one line) and the line end. */
type Layout = { indent: string | undefined; lineEnd: string };

function readNotebook(text: string, path: string) {
  let root: JsonNode;
  try {
    root = layOutJson(text);
  } catch (error) {
    throw new Error(`${path} is not valid JSON: ${messageOf(error)}`);
  }
  const list = root.kind === 'object' ? root.members.get('cells') : undefined;
  if (list?.kind !== 'array') throw new Error(`${path} has no list of cells (nbformat 4).`);
  const cells = list.items.map((node, index): Cell => {
    if (node.kind !== 'object' || !node.members.has('source'))
      throw new Error(`${path}: cell ${index} has no source.`);
    return { node, value: JSON.parse(text.slice(node.start, node.end)) };
  });
  const { nbformat = 4, nbformat_minor: minor = 0 } = JSON.parse(text);
  const indent = /^\s*\{\r?\n([ \t]+)/.exec(text)?.[1];
  // Since 4.5 every cell has an id.
  const hasIds = nbformat > 4 || (nbformat === 4 && minor >= 5);
  const layout: Layout = { indent, lineEnd: lineEndOf(text) };
  return { text, list, cells, hasIds, layout };
}

/** Notebooks of before 4.5 have no ids, so a position will do; an id that looks like one comes first. */
function findCell({ cells }: Notebook, id: string): number {
  const byId = cells.findIndex(({ value }) => value.id === id);
  if (byId !== -1) return byId;
  const position = /^cell-(\d+)$/.exec(id)?.[1];
  if (position !== undefined && Number(position) < cells.length) return Number(position);
  const names = cells.map(({ value }, index) => (typeof value.id === 'string' ? value.id : `cell-${index}`));
  throw new Error(`There is no cell ${id}. Cells: ${names.slice(0, 100).join(', ') || 'none'}.`);
}

function withSource(notebook: Notebook, index: number, source: string, type: string | undefined): string {
  const { text, layout } = notebook;
  const { node, value } = cellAt(notebook, index);
  const newSource = asWritten(source, Array.isArray(value.source));
  if (type !== undefined && type !== value.cell_type) {
    const other = ofType({ ...value, source: newSource }, type);
    return splice(text, [{ ...node, text: write(other, indentationAt(text, node.start), layout) }]);
  }
  const changed: JsonObject = { source: newSource };
  // What an older source printed is not what this one prints.
  if (value.cell_type === 'code') Object.assign(changed, { outputs: [], execution_count: null });
  const changes = Object.entries(changed).flatMap(([key, put]): Splice[] => {
    const member = node.members.get(key);
    if (!member) return [];
    const { start, end } = member;
    return [{ start, end, text: write(put, indentationAt(text, start), layout) }];
  });
  return splice(text, changes);
}

/** The same cell as one of another kind; the keys come in the order of the alphabet, in which Jupyter writes them. */
function ofType(cell: JsonObject, type: string): JsonObject {
  const foreign = type === 'code' ? ['attachments'] : ['execution_count', 'outputs'];
  const kept = Object.entries(cell).filter(([key]) => !foreign.includes(key));
  const own = type === 'code' ? { execution_count: null, outputs: [] } : {};
  const changed = { ...Object.fromEntries(kept), ...own, cell_type: type };
  return Object.fromEntries(Object.entries(changed).sort(([one], [other]) => (one < other ? -1 : 1)));
}

function insertCell(notebook: Notebook, index: number, type: string, source: string): EditedNotebook {
  const { text, list, cells, layout, hasIds } = notebook;
  const inLines = cells.every(({ value }) => Array.isArray(value.source));
  const id = newId(cells);
  const cell = ofType({ metadata: {}, source: asWritten(source, inLines), ...(hasIds && { id }) }, type);
  const report = `Inserted cell ${hasIds ? id : `cell-${index}`}`;
  const [first] = cells;
  if (!first) {
    const written = write([cell], indentationAt(text, list.start), layout);
    return { text: splice(text, [{ ...list, text: written }]), report };
  }
  const written = write(cell, indentationAt(text, first.node.start), layout);
  const gap = text.slice(list.start + 1, first.node.start);
  const at = index === 0 ? first.node.start : cellAt(notebook, index - 1).node.end;
  const put = index === 0 ? `${written},${gap}` : `,${gap}${written}`;
  return { text: splice(text, [{ start: at, end: at, text: put }]), report };
}

function withoutCell(notebook: Notebook, index: number): string {
  const { text, list, cells } = notebook;
  const { node } = cellAt(notebook, index);
  const previous = cells[index - 1]?.node;
  const next = cells[index + 1]?.node;
  if (previous) return splice(text, [{ start: previous.end, end: node.end, text: '' }]);
  if (next) return splice(text, [{ start: node.start, end: next.start, text: '' }]);
  return splice(text, [{ ...list, text: '[]' }]);
}

function cellAt({ cells }: Notebook, index: number): Cell {
  const cell = cells[index];
  if (!cell) throw new Error(`There is no cell ${index}.`);
  return cell;
}

/** Jupyter keeps a source as a list of lines, with their ends; a text is allowed as well. */
function asWritten(source: string, inLines: boolean): JsonValue {
  return inLines ? (source.match(/[^\n]*\n|[^\n]+$/g) ?? []) : source;
}

/** The value as JSON text in the layout of the file, to stand in a line with this indentation. */
function write(value: JsonValue, indentation: string, { indent, lineEnd }: Layout): string {
  return JSON.stringify(value, null, indent).replaceAll('\n', `${lineEnd}${indentation}`);
}

/** Of the line in which a position lies. */
function indentationAt(text: string, position: number): string {
  const line = text.lastIndexOf('\n', position - 1) + 1;
  return /^[ \t]*/.exec(text.slice(line, position))?.[0] ?? '';
}

function newId(cells: readonly Cell[]): string {
  const taken = new Set(cells.map(({ value }) => value.id));
  let id = '';
  do id = crypto.randomUUID().slice(0, 8);
  while (taken.has(id));
  return id;
}
