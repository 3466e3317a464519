import { readFile } from 'node:fs/promises';
import { expect, test } from 'vitest';
import { createMemoryEnvironment } from '../__fixtures__/memory-environment.ts';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';

/** What the model read as the result of the only call. */
function resultText(history: readonly unknown[]): string {
  const turn = history.find((one) => (one as { kind: string }).kind === 'tool_results');
  return (turn as { results: { content: string }[] }).results[0]?.content ?? '';
}

test('an output that the model gets in part lies whole in a file that the marker and the event name', async () => {
  const whole = Array.from({ length: 5_000 }, (_line, index) => `line ${index} é😀`).join('\n');
  await using run = await startSession([calls(toolCall('long', {})), says('ok')], {
    tools: [customTool('long', () => whole)],
  });
  await run.session.submit('go');
  const [end] = run.of('TOOL_CALL_END');
  const file = String(end?.data.details?.outputFile);
  expect(await readFile(file, 'utf8')).toBe(whole);
  const text = resultText(run.session.history);
  expect(text).toContain(`Full output: ${file}`);
  expect(text.length).toBeLessThanOrEqual(30_000);
});

test('a command that prints more than memory keeps has all of it in the file', async () => {
  const command = 'seq 1 400000';
  await using run = await startSession([calls(toolCall('shell', { command })), says('ok')]);
  await run.session.submit('go');
  const [end] = run.of('TOOL_CALL_END');
  const lines = (await readFile(String(end?.data.details?.outputFile), 'utf8')).split('\n');
  expect(lines).toHaveLength(400_001);
  expect([lines[0], lines[199_999], lines.at(-2)]).toEqual(['1', '200000', '400000']);
  const shown = resultText(run.session.history);
  expect(shown).toContain(`Full output: ${end?.data.details?.outputFile}`);
  // What the model does not see is counted of what arrived, not of what was kept in memory.
  const [marker = '', characters, count] =
    /\n\n\[WARNING.* (\d+) characters \((\d+) lines\).*\]\n\n/.exec(shown) ?? [];
  const [, output = ''] = shown.split('Output:\n');
  const arrived = lines.join('\n').trimEnd();
  expect(Number(characters)).toBe(arrived.length - (output.length - marker.length));
  expect(Math.abs(Number(count) - (400_000 - (output.split('\n').length - 4)))).toBeLessThanOrEqual(2);
  expect(end?.data.outputComplete).toBe(false);
});

test('a short output makes no file, and the marker says so if there is no place for one', async () => {
  await using short = await startSession([calls(toolCall('short', {})), says('ok')], {
    tools: [customTool('short', () => 'short')],
  });
  await short.session.submit('go');
  expect(short.of('TOOL_CALL_END')[0]?.data.details).toBeUndefined();
  await using run = await startSession([calls(toolCall('long', {})), says('ok')], {
    environment: createMemoryEnvironment(),
    tools: [customTool('long', () => 'x'.repeat(100_000))],
  });
  await run.session.submit('go');
  expect(run.of('TOOL_CALL_END')[0]?.data.details).toBeUndefined();
  expect(resultText(run.session.history)).toContain('The full output is available in the event stream.');
});

test('a shared call that asks to wait runs after the calls before it', async () => {
  const log: string[] = [];
  const gate = Promise.withResolvers<void>();
  const slow = customTool(
    'slow',
    async () => {
      log.push('slow starts');
      await gate.promise;
      log.push('slow ends');
      return '';
    },
    { concurrency: 'shared' },
  );
  const quick = customTool(
    'quick',
    ({ n }) => {
      log.push(`quick ${n}`);
      if (n === 1) gate.resolve();
      return '';
    },
    { concurrency: 'shared', waitsForEarlier: (input) => input.includes('"n":2') },
  );
  const step = calls(toolCall('slow', {}), toolCall('quick', { n: 1 }), toolCall('quick', { n: 2 }));
  await using run = await startSession([step, says('ok')], { tools: [slow, quick] });
  await run.session.submit('go');
  expect(log).toEqual(['slow starts', 'quick 1', 'slow ends', 'quick 2']);
});
