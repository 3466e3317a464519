import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { type StreamEventOf, shellCommand } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import { pathsIn, toolCategory } from './tool-category.ts';

const FILE_TOOLS = /^file_/;

/** Every tool call of the recorded runs of released agents, one of each name. */
function recordedCalls(): (StreamEventOf<'action.called'> & { agent: string })[] {
  const native = join(import.meta.dirname, '../native');
  const calls = globSync('*/__fixtures__/**/*.events.jsonl', { cwd: native }).flatMap((file) =>
    readFileSync(join(native, file), 'utf8')
      .split('\n')
      .filter((line) => line.includes('"action.called"'))
      .map((line) => ({ ...JSON.parse(line), agent: file.split('/')[0] })),
  );
  return [...new Map(calls.map((call) => [`${call.agent} ${call.name}`, call])).values()];
}

describe('of the tools of released agents', () => {
  const calls = recordedCalls().filter((call) => call.name !== 'load_skill' && !shellCommand(call));

  test('each that names a path is known', () => {
    expect(calls.length).toBeGreaterThan(40);
    const unknown = calls.filter(
      ({ name, input }) => pathsIn(input).length > 0 && toolCategory(name) === 'unknown',
    );
    expect(unknown).toEqual([]);
  });

  test('each that reads or changes files names their paths, but for what some programs send over ACP', () => {
    const pathless = calls
      .filter(({ agent }) => agent !== 'acp')
      .filter(({ name, input }) => FILE_TOOLS.test(toolCategory(name)) && pathsIn(input).length === 0);
    expect(pathless).toEqual([]);
  });
});

test.each([
  ['a key', { file_path: 'a.ts' }, ['a.ts']],
  ['a list of paths', { title: 'x', paths: ['a.ts', 'b.ts'] }, ['a.ts', 'b.ts']],
  ['a list of changes', { changes: [{ path: 'a.ts', kind: 'add' }, { path: 'b.ts' }] }, ['a.ts', 'b.ts']],
  ['a patch', '*** Begin Patch\n*** Update File: a.ts\n*** Move to: b.ts\n*** End Patch', ['a.ts', 'b.ts']],
  ['a patch in a key', { patchText: '*** Add File: a.ts' }, ['a.ts']],
  ['nothing', { query: 'a.ts' }, []],
])('finds the paths in %s', (_, input, paths) => {
  expect(pathsIn(input)).toEqual(paths);
});
