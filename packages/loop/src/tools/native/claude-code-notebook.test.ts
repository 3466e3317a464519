import { readFile, writeFile } from 'node:fs/promises';
import type { JsonObject } from '@whetstone/events';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { temporaryEnvironment } from '../../__fixtures__/temporary-directory.ts';
import { caller } from './__fixtures__/caller.ts';
import { createClaudeCodeTools } from './claude-code-tools.ts';

/** As Jupyter writes it: one blank of indentation, keys in the order of the alphabet, numbers and escapes of its own. */
const notebook = `{
 "cells": [
  {
   "cell_type": "markdown",
   "id": "intro",
   "metadata": {},
   "source": [
    "# Caf\\u00e9\\n",
    "text with \\"cells\\": [ and \\\\ in it"
   ]
  },
  {
   "cell_type": "code",
   "execution_count": 7,
   "id": "work",
   "metadata": {"scale": 1.0, "big": 12345678901234567890},
   "outputs": [
    {
     "name": "stdout",
     "output_type": "stream",
     "text": ["]}\\n"]
    }
   ],
   "source": [
    "x = 1\\n",
    "x"
   ]
  }
 ],
 "metadata": { "kernelspec": {  "name": "python3" } },
 "nbformat": 4,
 "nbformat_minor": 5
}
`;

async function open(text: string) {
  const place = await temporaryEnvironment();
  const file = place.path('a.ipynb');
  await writeFile(file, text);
  const call = caller(createClaudeCodeTools(), place.environment);
  return {
    edit: (args: JsonObject) => call('NotebookEdit', { notebook_path: file, new_source: '', ...args }),
    text: () => readFile(file, 'utf8'),
    [Symbol.asyncDispose]: () => place[Symbol.asyncDispose](),
  };
}

describe('a cell of a notebook', () => {
  test('gets another source and loses its outputs; every other byte stays', async () => {
    await using file = await open(notebook);
    const edited = await file.edit({ cell_id: 'work', new_source: 'y = 2\nprint(y)\n' });
    expect(edited.content).toMatch(/^Replaced the source of cell work in .*a\.ipynb\.$/);
    expect(edited.details).toMatchObject({ changes: [{ change: 'modified' }] });
    const outputs = notebook.slice(
      notebook.indexOf('"outputs": '),
      notebook.indexOf('   "source": [\n    "x'),
    );
    expect(await file.text()).toBe(
      notebook
        .replace('"execution_count": 7', '"execution_count": null')
        .replace(outputs, '"outputs": [],\n')
        .replace('    "x = 1\\n",\n    "x"', '    "y = 2\\n",\n    "print(y)\\n"'),
    );
  });

  test('becomes one of another kind and back', async () => {
    await using file = await open(notebook);
    await file.edit({ cell_id: 'work', new_source: 'words', cell_type: 'markdown' });
    const [intro, work] = JSON.parse(await file.text()).cells;
    expect(Object.keys(work)).toEqual(['cell_type', 'id', 'metadata', 'source']);
    expect(work).toMatchObject({ cell_type: 'markdown', source: ['words'] });
    expect(intro).toEqual(JSON.parse(notebook).cells[0]);
    await file.edit({ cell_id: 'work', new_source: '1', cell_type: 'code' });
    expect(JSON.parse(await file.text()).cells[1]).toMatchObject({ execution_count: null, outputs: [] });
  });

  test('is inserted after another, or before all, in the layout of the file', async () => {
    await using file = await open(notebook);
    const added = await file.edit({
      edit_mode: 'insert',
      cell_id: 'intro',
      cell_type: 'code',
      new_source: 'a',
    });
    const id = /^Inserted cell (\w{8}) /.exec(String(added.content))?.[1] ?? '';
    const cell = `  {
   "cell_type": "code",
   "execution_count": null,
   "id": "${id}",
   "metadata": {},
   "outputs": [],
   "source": [
    "a"
   ]
  },
`;
    const place = notebook.indexOf('  {\n   "cell_type": "code"');
    expect(await file.text()).toBe(notebook.slice(0, place) + cell + notebook.slice(place));
    await file.edit({ edit_mode: 'delete', cell_id: id });
    expect(await file.text()).toBe(notebook);
    await file.edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: '' });
    expect(JSON.parse(await file.text()).cells[0]).toMatchObject({ cell_type: 'markdown', source: [] });
  });

  test('is found by its position where cells have no ids', async () => {
    const old = JSON.stringify({
      nbformat: 4,
      nbformat_minor: 4,
      cells: [{ cell_type: 'raw', source: 'x', metadata: {} }],
    });
    await using file = await open(old);
    await file.edit({ cell_id: 'cell-0', new_source: 'a\nb' });
    expect(await file.text()).toBe(old.replace('"x"', '"a\\nb"'));
    await file.edit({ edit_mode: 'delete', cell_id: 'cell-0' });
    expect(JSON.parse(await file.text()).cells).toEqual([]);
    const { content } = await file.edit({ edit_mode: 'insert', cell_type: 'markdown', new_source: 'a' });
    expect(content).toMatch(/^Inserted cell cell-0 in/);
    expect(JSON.parse(await file.text()).cells).toEqual([
      { cell_type: 'markdown', metadata: {}, source: ['a'] },
    ]);
  });

  test('keeps the line ends and the byte order mark of its file', async () => {
    const windows = `\ufeff${notebook.replaceAll('\n', '\r\n')}`;
    await using file = await open(windows);
    await file.edit({ cell_id: 'intro', new_source: 'a\nb' });
    const text = await file.text();
    expect(text).toContain('"source": [\r\n    "a\\n",\r\n    "b"\r\n   ]');
    expect(text.replaceAll('\r\n', '')).not.toContain('\n');
    expect(text.startsWith('\ufeff{')).toBe(true);
  });

  test('what cannot be done is refused, and nothing is written', async () => {
    await using file = await open(notebook);
    const refused = async (args: JsonObject, reason: string | RegExp) =>
      await expect(file.edit(args)).rejects.toThrow(reason);
    await refused({ cell_id: 'other' }, 'There is no cell other. Cells: intro, work.');
    await refused({ cell_id: 'cell-2' }, /There is no cell cell-2/);
    await refused({}, 'replace needs a cell_id.');
    await refused({ edit_mode: 'delete' }, 'delete needs a cell_id.');
    await refused({ edit_mode: 'insert' }, 'insert needs a cell_type.');
    await refused({ notebook_path: 'a.py' }, 'a.py is not a notebook (.ipynb). Change it with Edit.');
    await refused({ notebook_path: 'b.ipynb', cell_id: 'x' }, /File not found/);
    expect(await file.text()).toBe(notebook);
    await using broken = await open('{"cells": [');
    await expect(broken.edit({ cell_id: 'x' })).rejects.toThrow(/a\.ipynb is not valid JSON/);
    await using empty = await open('{"cells": [{"id": "x"}]}');
    await expect(empty.edit({ cell_id: 'x' })).rejects.toThrow(/cell 0 has no source/);
    await using old = await open('{"worksheets": []}');
    await expect(old.edit({ cell_id: 'x' })).rejects.toThrow(/has no list of cells/);
  });

  test('whatever stands in the notebook, only the source changes', async () => {
    const cell = fc.record({
      cell_type: fc.constant('markdown'),
      metadata: fc.dictionary(fc.string(), fc.jsonValue()),
      source: fc.oneof(fc.string({ unit: 'grapheme' }), fc.array(fc.string())),
    });
    const layout = fc.constantFrom(undefined, 1, 2, '\t');
    await fc.assert(
      fc.asyncProperty(
        fc.array(cell, { minLength: 1, maxLength: 4 }),
        fc.dictionary(fc.string(), fc.jsonValue()),
        fc.nat(),
        fc.string({ unit: 'grapheme' }),
        layout,
        async (cells, metadata, chosen, source, indent) => {
          const index = chosen % cells.length;
          await using file = await open(JSON.stringify({ metadata, cells, nbformat: 4 }, null, indent));
          await file.edit({ cell_id: `cell-${index}`, new_source: source });
          const written = Array.isArray(cells[index]?.source)
            ? source.split(/(?<=\n)/).filter((line) => line !== '')
            : source;
          const expected = cells.map((old, at) => (at === index ? { ...old, source: written } : old));
          expect(await file.text()).toBe(
            JSON.stringify({ metadata, cells: expected, nbformat: 4 }, null, indent),
          );
        },
      ),
      { numRuns: 50 },
    );
  });
});

test('a notebook with a large image is edited as quickly', async () => {
  const image = 'A'.repeat(6_000_000);
  const big = notebook.replace('["]}\\n"]', JSON.stringify(image));
  await using file = await open(big);
  await file.edit({ cell_id: 'intro', new_source: 'a' });
  expect(await file.text()).toBe(big.replace(/"# Caf[^\]]*it"/, '"a"'));
});
