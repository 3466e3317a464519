import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { lstat, symlink } from 'node:fs/promises';
import { createServer } from 'node:net';
import type { JsonObject, JsonValue } from '@whetstone/events';
import { expect, test } from 'vitest';
import { temporaryEnvironment } from '../__fixtures__/temporary-directory.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { caller } from './native/__fixtures__/caller.ts';
import { parametersOf, type RegisteredTool } from './tool.ts';

const GIVEN: JsonObject = {
  ...{
    content: 'x',
    old_string: 'a',
    new_string: 'b',
    pattern: '*',
    command: 'true',
    instruction: 'edit',
    new_source: 'x',
  },
  ...{ include: ['pipe', 'socket', 'endless', 'circle'] },
};

const REFUSED =
  /is a device, a pipe or a socket|leads to itself|too many symbolic links|not a directory|not found|No files found|unable to locate image/i;

/** Arguments for a tool, with a path wherever it takes one. `undefined` for a tool that takes none. */
function argumentsFor({ definition }: RegisteredTool, file: string): JsonObject | undefined {
  const { name } = definition;
  if (definition.type === 'provider') return undefined;
  if (definition.type === 'freeform')
    return {
      [definition.argument.name]: `*** Begin Patch\n*** Update File: ${file}\n@@\n-a\n+b\n*** End Patch`,
    };
  const { properties, required = [] } = parametersOf(definition) as {
    properties: JsonObject;
    required?: string[];
  };
  const isPath = (key: string) => /(^|_)path$/.test(key);
  const keys = Object.keys(properties).filter((key) => isPath(key) || required.includes(key));
  if (!keys.some((key) => isPath(key) || key === 'include')) return undefined;
  const value = (key: string): JsonValue => {
    if (isPath(key)) return name === 'NotebookEdit' ? `${file}.ipynb` : file;
    return GIVEN[key] ?? null;
  };
  return Object.fromEntries(keys.map((key) => [key, value(key)]));
}

const profiles = [createOpenAiProfile, createAnthropicProfile, createGeminiProfile].flatMap((create) =>
  (['spec', 'native'] as const).map((toolSet) => create({ model: 'm', toolSet })),
);

test('no tool waits for, reads on, or replaces a pipe, a socket, an endless device or a link to itself', async () => {
  await using place = await temporaryEnvironment();
  for (const end of ['', '.ipynb']) {
    execFileSync('mkfifo', [place.path(`pipe${end}`)]);
    await symlink('/dev/zero', place.path(`endless${end}`));
    await symlink(`circle${end}`, place.path(`circle${end}`));
  }
  await using server = createServer().listen(place.path('socket'));
  await once(server, 'listening');

  const used = new Set<string>();
  for (const { toolRegistry } of profiles) {
    const tools = [...toolRegistry];
    const call = caller(tools, place.environment);
    for (const tool of tools)
      for (const file of ['pipe', 'socket', 'endless', 'circle']) {
        const args = argumentsFor(tool, place.path(file));
        if (!args) continue;
        const { name } = tool.definition;
        used.add(name);
        const said = await call(name, args).then(
          ({ content }) => String(content),
          (error: Error) => error.message,
        );
        expect(said, `${name} of ${file}`).toMatch(REFUSED);
      }
  }
  expect([...used].sort().join(' ')).toBe(
    'Edit Glob Grep NotebookEdit Read Write apply_patch edit_file glob grep grep_search list_dir list_directory ' +
      'read_file read_many_files replace run_shell_command view_image write_file',
  );
  for (const end of ['', '.ipynb']) {
    expect((await lstat(place.path(`pipe${end}`))).isFIFO()).toBe(true);
    for (const link of ['endless', 'circle'])
      expect((await lstat(place.path(`${link}${end}`))).isSymbolicLink()).toBe(true);
  }
  expect((await lstat(place.path('socket'))).isSocket()).toBe(true);
});
