import type { JsonObject } from '@whetstone/events';
import { describe, expect, test } from 'vitest';
import type { AgentFamily } from '../agent-family.ts';
import type { OfferedTool } from '../wire/neutral.ts';
import type { NeutralCall } from './script.ts';
import { shellCommand } from './shell-command.ts';
import { translateCall } from './translate.ts';

/** A function tool with these string properties; `!` marks the required ones. */
function tool(name: string, ...properties: string[]): OfferedTool {
  return objectTool(
    name,
    Object.fromEntries(properties.map((property) => [property.replace('!', ''), { type: 'string' }])),
    properties.flatMap((property) => (property.endsWith('!') ? [property.slice(0, -1)] : [])),
  );
}

const objectTool = (name: string, properties: JsonObject, required: string[] = []): OfferedTool => ({
  name,
  kind: 'function',
  parameters: { type: 'object', properties, required },
});

const patchTool: OfferedTool = { name: 'apply_patch', kind: 'custom', description: 'Patch.' };

const translate = (
  call: NeutralCall,
  tools: OfferedTool[],
  family: AgentFamily = 'unknown',
  text = '',
): unknown => {
  const translated = translateCall(call, { tools, family, text });
  return translated && [translated.name, translated.input];
};

const shell: NeutralCall = { tool: 'shell', command: 'npm test' };
const read: NeutralCall = { tool: 'read', path: 'src/a.ts' };
const write: NeutralCall = { tool: 'write', path: 'src/a.ts', content: 'one\ntwo\n' };
const edit: NeutralCall = { tool: 'edit', path: 'src/a.ts', find: 'one\n', replace: 'uno\ndue\n' };

const addPatch = '*** Begin Patch\n*** Add File: src/a.ts\n+one\n+two\n*** End Patch\n';
const editPatch = '*** Begin Patch\n*** Update File: src/a.ts\n@@\n-one\n+uno\n+due\n*** End Patch\n';

describe("a script is translated to the agent's own tools:", () => {
  test('our loop', () => {
    const tools = [
      tool('shell', 'command!', 'timeout_ms'),
      tool('read_file', 'file_path!', 'offset'),
      tool('write_file', 'file_path!', 'content!'),
      tool('edit_file', 'file_path!', 'old_string!', 'new_string!'),
    ];
    expect([shell, read, write, edit].map((call) => translate(call, tools, 'whetstone-loop'))).toEqual([
      ['shell', { command: 'npm test' }],
      ['read_file', { file_path: 'src/a.ts' }],
      ['write_file', { file_path: 'src/a.ts', content: 'one\ntwo\n' }],
      ['edit_file', { file_path: 'src/a.ts', old_string: 'one\n', new_string: 'uno\ndue\n' }],
    ]);
  });

  test('Codex', () => {
    const tools = [tool('exec_command', 'cmd!', 'workdir'), tool('write_stdin', 'session_id!'), patchTool];
    expect([shell, read, write, edit].map((call) => translate(call, tools, 'codex'))).toEqual([
      ['exec_command', { cmd: 'npm test' }],
      ['exec_command', { cmd: "cat -- 'src/a.ts'" }],
      ['apply_patch', addPatch],
      ['apply_patch', editPatch],
    ]);
  });

  test('Claude Code, with absolute paths from the working directory that it reports to the model', () => {
    const tools = [
      tool('Bash', 'command!', 'description!', 'timeout'),
      tool('Read', 'file_path!'),
      tool('Write', 'file_path!', 'content!'),
      tool('Edit', 'file_path!', 'old_string!', 'new_string!', 'replace_all'),
    ];
    const text = 'Environment\n - Primary working directory: /tmp/repo\n - Is a git repository: true';
    expect([shell, read, write, edit].map((call) => translate(call, tools, 'claude-code', text))).toEqual([
      ['Bash', { command: 'npm test', description: 'Run a command of the script' }],
      ['Read', { file_path: '/tmp/repo/src/a.ts' }],
      ['Write', { file_path: '/tmp/repo/src/a.ts', content: 'one\ntwo\n' }],
      ['Edit', { file_path: '/tmp/repo/src/a.ts', old_string: 'one\n', new_string: 'uno\ndue\n' }],
    ]);
    expect(translate(read, tools, 'claude-code', 'no directory here')).toEqual([
      'Read',
      { file_path: 'src/a.ts' },
    ]);
  });

  test('pi, with one replacement or a list of replacements', () => {
    const edits = {
      type: 'array',
      items: { type: 'object', properties: { oldText: {}, newText: {} }, required: ['oldText', 'newText'] },
    };
    const others = [tool('read', 'path!'), tool('bash', 'command!'), tool('write', 'path!', 'content!')];
    const older = [...others, tool('edit', 'path!', 'oldText!', 'newText!')];
    const newer = [...others, objectTool('edit', { path: { type: 'string' }, edits }, ['path', 'edits'])];
    expect([shell, read, write].map((call) => translate(call, newer, 'pi'))).toEqual([
      ['bash', { command: 'npm test' }],
      ['read', { path: 'src/a.ts' }],
      ['write', { path: 'src/a.ts', content: 'one\ntwo\n' }],
    ]);
    expect(translate(edit, older)).toEqual([
      'edit',
      { path: 'src/a.ts', oldText: 'one\n', newText: 'uno\ndue\n' },
    ]);
    expect(translate(edit, newer)).toEqual([
      'edit',
      { path: 'src/a.ts', edits: [{ oldText: 'one\n', newText: 'uno\ndue\n' }] },
    ]);
  });

  test('Gemini CLI', () => {
    const tools = [
      tool('run_shell_command', 'command!', 'description'),
      tool('replace', 'file_path!', 'instruction!', 'old_string!', 'new_string!'),
    ];
    expect(translate(shell, tools)).toEqual(['run_shell_command', { command: 'npm test' }]);
    expect(translate(edit, tools)).toEqual([
      'replace',
      {
        file_path: 'src/a.ts',
        instruction: "Do the script's edit of src/a.ts",
        old_string: 'one\n',
        new_string: 'uno\ndue\n',
      },
    ]);
  });

  describe('agents that want absolute paths and report their working directory:', () => {
    const path = { type: 'string', description: 'The absolute path of the file' };
    const text = { type: 'string' };
    const inputs = (tools: OfferedTool[], prompt: string) =>
      [shell, read, write, edit].map((call) => translate(call, tools, 'unknown', prompt));

    test('Qwen Code', () => {
      const tools = [
        tool('run_shell_command', 'command!', 'is_background', 'timeout', 'description', 'directory'),
        objectTool('read_file', { file_path: path, offset: {}, limit: {} }, ['file_path']),
        objectTool('write_file', { file_path: path, content: text }, ['file_path', 'content']),
        objectTool('edit', { file_path: path, old_string: text, new_string: text, replace_all: {} }, [
          'file_path',
          'old_string',
          'new_string',
        ]),
      ];
      expect(inputs(tools, "I'm currently working in the directory: /srv/repo\n")).toEqual([
        ['run_shell_command', { command: 'npm test' }],
        ['read_file', { file_path: '/srv/repo/src/a.ts' }],
        ['write_file', { file_path: '/srv/repo/src/a.ts', content: 'one\ntwo\n' }],
        ['edit', { file_path: '/srv/repo/src/a.ts', old_string: 'one\n', new_string: 'uno\ndue\n' }],
      ]);
    });

    test('OpenCode', () => {
      const tools = [
        tool('bash', 'command!', 'timeout', 'workdir'),
        objectTool('read', { filePath: path, offset: {}, limit: {} }, ['filePath']),
        objectTool('write', { content: text, filePath: path }, ['content', 'filePath']),
        objectTool('edit', { filePath: path, oldString: text, newString: text, replaceAll: {} }, [
          'filePath',
          'oldString',
          'newString',
        ]),
      ];
      expect(inputs(tools, '<env>\n  Working directory: /srv/repo\n')).toEqual([
        ['bash', { command: 'npm test' }],
        ['read', { filePath: '/srv/repo/src/a.ts' }],
        ['write', { filePath: '/srv/repo/src/a.ts', content: 'one\ntwo\n' }],
        ['edit', { filePath: '/srv/repo/src/a.ts', oldString: 'one\n', newString: 'uno\ndue\n' }],
      ]);
    });

    test('Copilot', () => {
      const tools = [
        tool('bash', 'command!', 'description!', 'shellId', 'mode'),
        objectTool('view', { path, view_range: { type: 'array' } }, ['path']),
        objectTool('create', { path, file_text: text }, ['path', 'file_text']),
        objectTool('edit', { path, old_str: text, new_str: text }, ['path']),
      ];
      expect(inputs(tools, '* Current working directory: /srv/repo\n')).toEqual([
        ['bash', { command: 'npm test', description: 'Run a command of the script' }],
        ['view', { path: '/srv/repo/src/a.ts' }],
        ['create', { path: '/srv/repo/src/a.ts', file_text: 'one\ntwo\n' }],
        ['edit', { path: '/srv/repo/src/a.ts', old_str: 'one\n', new_str: 'uno\ndue\n' }],
      ]);
    });
  });

  test("Codex's code mode, where tools are functions of its JavaScript", () => {
    const exec: OfferedTool = {
      name: 'exec',
      kind: 'custom',
      namespace: 'functions',
      description: 'declare const tools: { exec_command(...), apply_patch(...) }',
    };
    const context = { tools: [exec], family: 'codex' as const, text: '' };
    expect(translateCall(shell, context)).toEqual({
      name: 'exec',
      namespace: 'functions',
      kind: 'custom',
      input: expect.stringContaining('await tools.exec_command({"cmd":"npm test"})'),
    });
    expect(translateCall(write, context)?.input).toContain(
      `await tools.apply_patch(${JSON.stringify(addPatch)})`,
    );
  });
});

describe('the schema of a tool decides:', () => {
  test.each(['patch', 'input', 'patchText'])('an apply_patch function takes its patch as "%s"', (name) => {
    expect(translate(edit, [tool('apply_patch', `${name}!`)])).toEqual([
      'apply_patch',
      { [name]: editPatch },
    ]);
  });

  test('a command may be a list of arguments', () => {
    const tools = [objectTool('shell', { command: { type: 'array' } }, ['command'])];
    expect(translate(shell, tools)).toEqual(['shell', { command: ['bash', '-lc', 'npm test'] }]);
  });

  test('a path becomes absolute where the schema asks for it', () => {
    const path = { type: 'string', description: 'The absolute path to the file' };
    const tools = [objectTool('read_file', { file_path: path })];
    expect(translate(read, tools, 'unknown', '<cwd>/srv/repo</cwd>')).toEqual([
      'read_file',
      { file_path: '/srv/repo/src/a.ts' },
    ]);
  });

  test('a strict tool requires every input, and gets null for one that may be null', () => {
    const timeout = { anyOf: [{ type: 'number' }, { type: 'null' }] };
    const strict = objectTool('bash', { command: { type: 'string' }, timeout }, ['command', 'timeout']);
    expect(translate(shell, [strict])).toEqual(['bash', { command: 'npm test', timeout: null }]);
  });

  test('a tool that requires an unknown input is skipped', () => {
    const tools = [
      tool('write_file', 'file_path!', 'content!', 'approval_token!'),
      tool('shell', 'command!'),
    ];
    expect(translate(write, tools)).toEqual(['shell', { command: expect.stringContaining("> 'src/a.ts'") }]);
  });
});

describe('changes that a patch cannot express exactly go through the shell', () => {
  const tools = [tool('exec_command', 'cmd!'), patchTool];
  test.each<[string, NeutralCall]>([
    ['a file without a newline at its end', { ...write, content: 'one' }],
    ['carriage returns', { ...write, content: 'one\r\n' }],
    ['a line that is joined with the next', { ...edit, replace: 'uno' }],
    ['a find that begins with the end of a line', { ...edit, find: '\none' }],
  ])('%s', (_what, call) => {
    expect(translate(call, tools)).toEqual(['exec_command', { cmd: shellCommand(call) }]);
  });

  test.each<[string, NeutralCall, string[]]>([
    ['lines that are deleted', { ...edit, replace: '' }, ['-one']],
    ['lines without the last newline', { ...edit, find: 'a\nb', replace: 'c' }, ['-a', '-b', '+c']],
    ['an empty file', { ...write, content: '' }, []],
  ])('but not %s', (_what, call, lines) => {
    const [name, input] = translate(call, tools) as [string, string];
    expect(name).toBe('apply_patch');
    expect(input.split('\n').filter((line) => /^[-+]/.test(line))).toEqual(lines);
  });
});

test('a call that no tool can do has no translation', () => {
  expect(
    translate(shell, [tool('read_file', 'file_path!'), { name: 'shell', kind: 'hosted' }]),
  ).toBeUndefined();
  expect(translate(write, [])).toBeUndefined();
});
