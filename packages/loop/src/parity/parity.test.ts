/** The cross-provider matrix of the loop specification (9.12): a cell each, over real HTTP, with real files and commands. */
import { spawnSync } from 'node:child_process';
import type { JsonObject } from '@whetstone/events';
import type { ScriptCall, ScriptRequest } from '@whetstone/gateway';
import { describe, expect, test, vi } from 'vitest';
import { defineTool } from '../tools/tool.ts';
import { greetings, providers } from './__fixtures__/providers.ts';
import { resultsIn, startCell, userTextsIn } from './__fixtures__/start-cell.ts';

const shell = (command: string): ScriptCall => ({ tool: 'shell', command });
const read = (path: string): ScriptCall => ({ tool: 'read', path });
const native = (name: string, input: JsonObject): ScriptCall => ({ tool: 'native', name, input });
const lastOutput = ({ toolResults }: ScriptRequest): string => toolResults.at(-1)?.output ?? '';

describe.each(providers)('$title', (provider) => {
  test('simple file creation task', async () => {
    const content = 'print("Hello World")\n';
    await using cell = await startCell(provider, {
      script: [
        { text: 'On it.', calls: [{ tool: 'write', path: 'hello.py', content }] },
        { text: 'Created hello.py.' },
      ],
    });
    const result = await cell.session.submit('Create hello.py.');
    expect(result).toMatchObject({ reason: 'completed', text: 'Created hello.py.', toolRounds: 1 });
    expect(await cell.read('hello.py')).toBe(content);
    const [first, second] = await cell.requests();
    expect(userTextsIn(first).at(-1)).toBe('Create hello.py.');
    expect(resultsIn(second)[0]?.text).toMatch(/Wrote 21 bytes to .*hello\.py/);
    expect(cell.ledger.map((line) => line.tools_called)).toEqual([['write_file'], []]);
  });

  test('read file, then edit it', async () => {
    await using cell = await startCell(provider, {
      files: { 'a.txt': 'one\ntwo\n' },
      script: [
        { calls: [read('a.txt')] },
        { calls: [{ tool: 'edit', path: 'a.txt', find: 'two\n', replace: 'three\n' }] },
        { text: 'Edited.' },
      ],
    });
    expect(await cell.session.submit('Say three.')).toMatchObject({ reason: 'completed', toolRounds: 2 });
    expect(await cell.read('a.txt')).toBe('one\nthree\n');
    const [, second, third] = await cell.requests();
    expect(resultsIn(second)[0]?.text).toBe('1 | one\n2 | two');
    expect(resultsIn(third)).toHaveLength(2);
    expect(cell.ledger.map((line) => line.tools_called)).toEqual([
      ['read_file'],
      [provider.editing.tool],
      [],
    ]);
  });

  test('multi-file edit in one session', async () => {
    await using cell = await startCell(provider, {
      files: { 'a.txt': 'a\n', 'deep/b.txt': 'b\n' },
      script: [
        { calls: [read('a.txt'), read('deep/b.txt')] },
        {
          calls: [
            { tool: 'edit', path: 'a.txt', find: 'a\n', replace: 'A\n' },
            { tool: 'edit', path: 'deep/b.txt', find: 'b\n', replace: 'B\n' },
            { tool: 'write', path: 'new/c.txt', content: 'C\n' },
          ],
        },
        { text: 'Three files.' },
      ],
    });
    expect(await cell.session.submit('Capitals.')).toMatchObject({ reason: 'completed', toolRounds: 2 });
    expect(await Promise.all(['a.txt', 'deep/b.txt', 'new/c.txt'].map(cell.read))).toEqual([
      'A\n',
      'B\n',
      'C\n',
    ]);
    expect(resultsIn((await cell.requests()).at(-1))).toHaveLength(5);
  });

  test('shell command execution', async () => {
    await using cell = await startCell(provider, {
      script: [
        { calls: [shell('pwd')] },
        { calls: [shell('echo out; echo err >&2; exit 3')] },
        { text: 'Ran.' },
      ],
    });
    expect(await cell.session.submit('Run it.')).toMatchObject({ reason: 'completed', text: 'Ran.' });
    const ends = cell.of('TOOL_CALL_END').map(({ data }) => data);
    expect(ends).toMatchObject([
      { isError: false, details: { exitCode: 0 } },
      { isError: provider.nonZeroExitFails, details: { exitCode: 3 } },
    ]);
    const [pwd, failing] = resultsIn((await cell.requests()).at(-1));
    expect(pwd?.text).toMatch(new RegExp(`^Exit code: 0\n.*\nOutput:\n${cell.directory}$`));
    expect(failing?.text).toMatch(/^Exit code: 3\n.*\nOutput:\nout\nerr$/);
    expect(failing?.failed).toBe(provider.marksFailures ? provider.nonZeroExitFails : undefined);
  });

  test('shell command timeout handling', async () => {
    const command = 'echo begun; sleep 30 & echo $! $$ > pids; wait';
    await using cell = await startCell(provider, {
      script: [{ calls: [native('shell', { command, timeout_ms: 300 })] }, { text: 'It took too long.' }],
    });
    expect(await cell.session.submit('Sleep.')).toMatchObject({ text: 'It took too long.' });
    expect(cell.of('TOOL_CALL_END')[0]?.data).toMatchObject({
      status: 'failed',
      isError: true,
      details: { timedOut: true },
    });
    const [result] = resultsIn((await cell.requests()).at(-1));
    expect(result?.text).toMatch(/Output:\nbegun\n\[ERROR: Command timed out after 300ms\. Partial output/);
    expect(result?.text).toContain('retry with a longer timeout by setting the timeout_ms parameter');
    const pids = (await cell.read('pids')).trim().split(' ');
    expect(pids).toHaveLength(2);
    await vi.waitFor(() => expect(alive(pids)).toEqual([]), { timeout: 30_000 });
  });

  test('grep + glob to find files', async () => {
    await using cell = await startCell(provider, {
      files: {
        'src/a.ts': '// first\nexport const needle = 7;\n',
        'src/b.ts': 'export const hay = 8;\n',
        'docs/needle.md': 'needle = 7\n',
      },
      script: (request) => {
        if (request.step === 0) {
          const grep = { pattern: 'needle = \\d', glob_filter: '*.ts' };
          return {
            calls: [native('grep', grep), native('glob', { pattern: '**/*.md' })],
          };
        }
        const [hits = '', files = ''] = request.toolResults.map(({ output }) => output);
        return request.step === 1
          ? { calls: [read(hits.split(':', 1)[0] ?? ''), read(files)] }
          : { text: 'Found both.' };
      },
    });
    expect(await cell.session.submit('Find it.')).toMatchObject({ text: 'Found both.', toolRounds: 2 });
    expect(cell.of('TOOL_CALL_END').map(({ data }) => data.status)).toEqual(Array(4).fill('completed'));
    expect(resultsIn((await cell.requests()).at(-1)).map(({ text }) => text)).toEqual([
      'src/a.ts:2:export const needle = 7;',
      'docs/needle.md',
      '1 | // first\n2 | export const needle = 7;',
      '1 | needle = 7',
    ]);
  });

  test('multi-step task (read -> analyze -> edit)', async () => {
    await using cell = await startCell(provider, {
      files: { 'sum.sh': 'echo $(($1 - $2))\n' },
      script: (request) => {
        const output = lastOutput(request);
        if (request.step === 0) return { calls: [read('sum.sh')] };
        if (output.includes('1 | echo')) return { text: 'A look.', calls: [shell('sh sum.sh 2 3')] };
        if (output.endsWith('-1')) {
          const [find, replace] = ['echo $(($1 - $2))\n', 'echo $(($1 + $2))\n'];
          return { calls: [{ tool: 'edit', path: 'sum.sh', find, replace }] };
        }
        if (output.endsWith('Output:\n5')) return { text: 'Fixed: 2 + 3 is 5.' };
        return { calls: [shell('sh sum.sh 2 3')] };
      },
      config: { maxToolRoundsPerInput: 6 },
    });
    const result = await cell.session.submit('sum.sh is wrong.');
    expect(result).toMatchObject({ reason: 'completed', text: 'Fixed: 2 + 3 is 5.', toolRounds: 4 });
    expect(await cell.read('sum.sh')).toBe('echo $(($1 + $2))\n');
    const { editing } = provider;
    expect(cell.ledger.flatMap((line) => line.tools_called)).toEqual([
      'read_file',
      'shell',
      editing.tool,
      'shell',
    ]);
    // Each request holds the one before, so that the provider's prompt cache serves.
    const requests = (await cell.requests()).map(({ items }) => JSON.stringify(items).slice(0, -1));
    expect(requests).toHaveLength(5);
    for (const [index, request] of requests.slice(1).entries())
      expect(request.startsWith(requests[index] ?? '')).toBe(true);
  });

  test('tool output truncation (large file)', async () => {
    const content = 'x'.repeat(100_000);
    await using cell = await startCell(provider, {
      files: { 'big.txt': content },
      script: [{ calls: [read('big.txt')] }, { text: 'Many x.' }],
    });
    await cell.session.submit('Read big.txt.');
    expect(cell.of('TOOL_CALL_END')[0]?.data).toMatchObject({
      output: `1 | ${content}`,
      outputComplete: true,
      isError: false,
    });
    const [result] = resultsIn((await cell.requests()).at(-1));
    expect(result?.text.length).toBeLessThanOrEqual(50_000);
    expect(result?.text).toMatch(
      /^1 \| x{20000,}\s+\[WARNING: Tool output was truncated\. 5\d{4} characters .*removed from the middle\..*\]\s+x{20000,}$/,
    );
  });

  test('parallel tool calls', async () => {
    // The first of them ends only when the second has begun: one after the other, they would not end at all.
    const second = Promise.withResolvers<void>();
    const meet = defineTool<{ place: number }>({
      definition: {
        name: 'meet',
        description: 'Meets.',
        parameters: { type: 'object', properties: { place: { type: 'integer' } }, required: ['place'] },
      },
      concurrency: 'shared',
      executor: async ({ place }) => {
        if (place === 2) second.resolve();
        await second.promise;
        return `met at ${place}`;
      },
    });
    await using cell = await startCell(provider, {
      files: { 'a.txt': 'one\n' },
      tools: [meet],
      script: [
        {
          text: 'All at once.',
          calls: [native('meet', { place: 1 }), read('a.txt'), native('meet', { place: 2 })],
        },
        { text: 'Met.' },
      ],
    });
    expect(await cell.session.submit('Meet.')).toMatchObject({ text: 'Met.', toolRounds: 1 });
    const [, request] = await cell.requests();
    const items = request?.items ?? [];
    const called = items.filter((item) => item.kind === 'call');
    const results = resultsIn(request);
    expect(results.map(({ text }) => text)).toEqual(['met at 1', '1 | one', 'met at 2']);
    expect(results.map(({ id }) => id)).toEqual(called.map(({ id }) => id));
    expect(new Set(results.map(({ id }) => id)).size).toBe(3);
    // One message with all results, directly after the one with the calls.
    const answered = called.map(({ message }) => message + 1);
    expect(results.map(({ message }) => message)).toEqual(answered);
    expect(new Set(answered).size).toBe(1);
    expect(items.slice(-3)).toEqual(results);
  }, 10_000);

  test('steering mid-task', async () => {
    const steering = 'Only a /health endpoint, please.';
    await using cell = await startCell(provider, {
      script: ({ step, userText }) => {
        if (step === 0) return { calls: [shell('true'), shell('true')] };
        if (step > 1) return { text: 'Done.' };
        const content = userText.includes(steering) ? '/health\n' : '/a /b /c\n';
        return { calls: [{ tool: 'write', path: 'routes.txt', content }] };
      },
    });
    cell.session.on(({ kind }) => {
      if (kind === 'TOOL_CALL_START' && cell.of('TOOL_CALL_START').length === 1) cell.session.steer(steering);
    });
    expect(await cell.session.submit('Create a web application.')).toMatchObject({ reason: 'completed' });
    expect(await cell.read('routes.txt')).toBe('/health\n');
    expect(cell.of('STEERING_INJECTED').map(({ data }) => data.content)).toEqual([steering]);
    const [first, second] = await cell.requests();
    expect(userTextsIn(first)).not.toContain(steering);
    expect(second?.items.slice(-3)).toMatchObject([
      { kind: 'result' },
      { kind: 'result' },
      { kind: 'text', role: 'user', text: steering },
    ]);
  });

  test('reasoning effort change', async () => {
    await using cell = await startCell(provider, {
      script: ({ step, userText }) =>
        step === 0 && userText.includes('Think.') ? { calls: [shell('true')] } : { text: 'Thought.' },
      config: { reasoningEffort: 'low' },
    });
    const { session } = cell;
    session.on(({ kind }) => {
      if (kind === 'TOOL_CALL_START') session.setReasoningEffort('high');
    });
    expect(await session.submit('Think.')).toMatchObject({ reason: 'completed', toolRounds: 1 });
    expect(await session.submit('Again.')).toMatchObject({ reason: 'completed' });
    session.setReasoningEffort(undefined);
    expect(await session.submit('Once more.')).toMatchObject({ reason: 'completed' });
    const { of, low, highWithin, high, unset } = provider.effort;
    expect((await cell.requests()).map(({ body }) => of(body))).toEqual([low, highWithin, high, unset]);
  });

  test('subagent spawn and wait', async () => {
    const task = 'Write tests for hello.py and report.';
    await using cell = await startCell(provider, {
      script: (request) => {
        const { step, userText } = request;
        if (userText.includes(task))
          return step === 0
            ? { calls: [{ tool: 'write', path: 'test_hello.py', content: 'assert True\n' }] }
            : { text: 'One test, in test_hello.py.' };
        if (step === 0) return { calls: [native('spawn_agent', { task })] };
        const id = /Started (\S+)\. Status/.exec(lastOutput(request))?.[1] ?? 'nobody';
        if (step === 1) return { calls: [native('wait', { agent_id: id })] };
        return { text: `The agent says: ${lastOutput(request)}` };
      },
    });
    const result = await cell.session.submit('Delegate the tests.');
    expect(result).toMatchObject({ reason: 'completed', toolRounds: 2, modelCalls: 3 });
    expect(result.text).toMatch(/success: true, turns used: 2\)\nOne test, in test_hello\.py\.$/);
    expect(await cell.read('test_hello.py')).toBe('assert True\n');
    expect(cell.of('SUBAGENT_START')).toHaveLength(1);
    expect(cell.of('SUBAGENT_END')[0]?.data).toMatchObject({ status: 'COMPLETED', success: true });
    const byChild = cell.of('TOOL_CALL_END').filter((event) => event.subagent !== undefined);
    expect(byChild.map(({ data }) => [data.name, data.status])).toEqual([['write_file', 'completed']]);
    // The child knows nothing of its parent's conversation, and the parent reads only its report.
    const requests = await cell.requests();
    const ofChild = requests.filter((request) => userTextsIn(request).includes(task));
    const ofParent = requests.filter((request) => !ofChild.includes(request));
    expect([ofParent.length, ofChild.length]).toEqual([3, 2]);
    expect(JSON.stringify(ofChild.map(({ items }) => items))).not.toContain('Delegate the tests.');
    const known = ofParent.at(-1)?.items.flatMap((item) => (item.kind === 'call' ? [item.name] : []));
    expect(known).toEqual(['spawn_agent', 'wait']);
    expect(resultsIn(ofParent.at(-1)).at(-1)?.text).toContain('One test, in test_hello.py.');
  });

  test('loop detection triggers warning', async () => {
    const warning = /^Loop detected: the last 10 tool calls follow a repeating pattern\. Try a different/;
    await using cell = await startCell(provider, {
      files: { 'a.txt': 'one\n' },
      script: ({ userText }) =>
        userText.includes('Loop detected') ? { text: 'I shall stop.' } : { calls: [read('a.txt')] },
      config: { maxToolRoundsPerInput: 12 },
    });
    const result = await cell.session.submit('Read for ever.');
    expect(result).toMatchObject({ reason: 'completed', text: 'I shall stop.', toolRounds: 10 });
    expect(cell.of('LOOP_DETECTION').map(({ data }) => data)).toEqual([
      { message: expect.stringMatching(warning), period: 1 },
    ]);
    const requests = await cell.requests();
    expect(requests.at(-2)?.items.at(-1)).toMatchObject({ kind: 'result' });
    expect(requests.at(-1)?.items.at(-1)).toMatchObject({
      kind: 'text',
      role: 'user',
      text: expect.stringMatching(warning),
    });
  });

  test('error recovery (tool fails, model retries)', async () => {
    await using cell = await startCell(provider, {
      files: { 'a.txt': 'one\n' },
      script: (request) => {
        const edit = (find: string): ScriptCall => ({ tool: 'edit', path: 'a.txt', find, replace: 'two\n' });
        if (request.step === 0) return { calls: [edit('no such line\n')] };
        const failed = /not found|failed/i.test(lastOutput(request));
        return request.step === 1 && failed ? { calls: [edit('one\n')] } : { text: 'Recovered.' };
      },
    });
    expect(await cell.session.submit('Edit.')).toMatchObject({ text: 'Recovered.', toolRounds: 2 });
    expect(await cell.read('a.txt')).toBe('two\n');
    expect(cell.of('TOOL_CALL_END').map(({ data }) => [data.status, data.isError])).toEqual([
      ['failed', true],
      ['completed', false],
    ]);
    const results = resultsIn((await cell.requests()).at(-1));
    const marks = provider.marksFailures ? [true, false] : [undefined, undefined];
    expect(results.map(({ failed }) => failed)).toEqual(marks);
    expect(results[0]?.text).toMatch(/a\.txt/);
  });

  test('provider-specific editing format works', async () => {
    const { tool, calls, statuses } = provider.editing;
    await using cell = await startCell(provider, {
      files: { 'greet.py': greetings.before },
      script: [...calls.map((call) => ({ calls: [call] })), { text: 'Edited.' }],
    });
    expect(await cell.session.submit('Say bye.')).toMatchObject({ reason: 'completed', text: 'Edited.' });
    expect(await cell.read('greet.py')).toBe(greetings.after);
    expect(cell.of('TOOL_CALL_END').map(({ data }) => data.status)).toEqual(statuses);
    const others = providers.map(({ editing }) => editing.tool).filter((name) => name !== tool);
    const [{ tools_offered: offered = [] } = {}] = cell.ledger;
    expect(offered).toContain(tool);
    for (const other of others) expect(offered).not.toContain(other);
    // The model's own words go back to it, not another form of them.
    const sent = (await cell.requests()).at(-1)?.items.filter((item) => item.kind === 'call');
    expect(sent?.map(({ name, input }) => ({ tool: 'native', name, input }))).toEqual(calls);
  });
});

/** Of these processes, those that run; one that is dead and not yet reaped does not. */
function alive(pids: readonly string[]): string[] {
  return pids.filter((pid) => {
    const { stdout } = spawnSync('ps', ['-o', 'state=', '-p', pid], { encoding: 'utf8' });
    return /^[^Z\s]/.test(stdout.trim());
  });
}
