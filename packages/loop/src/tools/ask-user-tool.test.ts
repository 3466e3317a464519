import { describe, expect, test, vi } from 'vitest';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { startSession } from '../__fixtures__/start-session.ts';
import type { Input } from '../conversation/turn.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import type { ProfileOptions, ProviderProfile } from '../profiles/provider-profile.ts';

const question = () =>
  calls(toolCall('ask_user', { question: 'Tabs or spaces?', options: ['tabs', 'spaces'] }));

test('a question waits for the answer that submit() gives', async () => {
  await using run = await startSession([question(), says('tabs it is')], { askUser: true });
  const first = run.session.submit('format it');
  await vi.waitUntil(() => run.session.state === 'AWAITING_INPUT', { timeout: 30_000 });
  expect(run.of('INPUT_REQUESTED')[0]?.data).toMatchObject({
    question: 'Tabs or spaces?',
    options: ['tabs', 'spaces'],
  });
  const second = run.session.submit('tabs');
  expect(run.session.state).toBe('PROCESSING');
  expect(await second).toMatchObject({ reason: 'completed', text: 'tabs it is' });
  expect(await first).toEqual(await second);
  expect(run.of('PROCESSING_END')).toHaveLength(1);
  expect(run.of('USER_INPUT')).toHaveLength(1);
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({ output: 'tabs', isError: false });
});

test('the answer to a question has the schema of the input that led to it, and no other', async () => {
  const style = { type: 'object', properties: { tabs: { type: 'boolean' } }, required: ['tabs'] };
  await using run = await startSession([question(), says('{"tabs":true}')], { askUser: true });
  const first = run.session.submit('format it', { outputSchema: style });
  await vi.waitUntil(() => run.session.state === 'AWAITING_INPUT', { timeout: 30_000 });
  const other = run.session.submit('tabs', { outputSchema: { type: 'object' } });
  await expect(other).rejects.toThrow('the answer to a question takes no outputSchema of its own');
  expect(run.session.state).toBe('AWAITING_INPUT');
  const second = run.session.submit('tabs', { outputSchema: structuredClone(style) });
  expect(await second).toMatchObject({ reason: 'completed', output: { tabs: true } });
  expect(await first).toEqual(await second);
});

test('an interrupt ends the question', async () => {
  await using run = await startSession([question(), says('ok')], { askUser: true });
  const submitted = run.session.submit('format it');
  await vi.waitUntil(() => run.session.state === 'AWAITING_INPUT', { timeout: 30_000 });
  await run.session.interrupt();
  expect(await submitted).toMatchObject({ reason: 'interrupted' });
  expect(run.session.state).toBe('IDLE');
  expect(await run.session.submit('go on')).toMatchObject({ reason: 'completed', text: 'ok' });
});

test('without a user there is no such tool, and a question in a text is only text', async () => {
  await using run = await startSession([says('Tabs or spaces?')]);
  expect(await run.session.submit('format it')).toMatchObject({ reason: 'completed' });
  expect(run.session.state).toBe('IDLE');
  expect(JSON.stringify(run.model.requests[0]?.tools)).not.toContain('ask_user');
});

describe('under the names of the released agents', () => {
  const native = { model: 'fake-1', toolSet: 'native' } satisfies ProfileOptions;
  const options = [
    { label: 'tabs', description: 'wide' },
    { label: 'spaces', description: 'exact' },
  ];
  const style = { header: 'Style', question: 'Tabs or spaces?', options };

  /** Lets the model make one call, answers its questions in turn, and returns them and what the model reads. */
  async function answered(
    profile: ProviderProfile,
    name: string,
    questions: unknown[],
    answers: readonly Input[],
  ) {
    const steps = [calls(toolCall(name, { questions })), says('thanks')];
    await using run = await startSession(steps, { profile, askUser: true });
    const ends = [run.session.submit('format it')];
    for (const [index, answer] of answers.entries()) {
      await vi.waitUntil(() => run.of('INPUT_REQUESTED').length === index + 1, { timeout: 30_000 });
      ends.push(run.session.submit(answer));
    }
    for (const end of await Promise.all(ends))
      expect(end).toMatchObject({ reason: 'completed', text: 'thanks' });
    const [turn] = run.session.history.filter(({ kind }) => kind === 'tool_results');
    const [result] = turn?.kind === 'tool_results' ? turn.results : [];
    return { asked: run.of('INPUT_REQUESTED').map(({ data }) => data), result };
  }

  test('Codex: answers come by the id of their question', async () => {
    const questions = [
      { ...style, id: 'style' },
      { ...style, id: 'width', question: 'How wide?', options: [{ label: '2', description: '' }] },
    ];
    const { asked, result } = await answered(createOpenAiProfile(native), 'request_user_input', questions, [
      'tabs',
      'four',
    ]);
    expect(asked).toMatchObject([
      { question: 'Tabs or spaces?\n- tabs: wide\n- spaces: exact', options: ['tabs', 'spaces'] },
      { question: 'How wide?', options: ['2'] },
    ]);
    expect(JSON.parse(String(result?.content))).toEqual({
      answers: { style: { answers: ['tabs'] }, width: { answers: ['four'] } },
    });
  });

  test('Claude Code: answers come with their question; several may be chosen', async () => {
    const questions = [{ ...style, multiSelect: true }];
    const { asked, result } = await answered(createAnthropicProfile(native), 'AskUserQuestion', questions, [
      'both',
    ]);
    expect(asked[0]?.question).toMatch(/\n\(You may choose several\.\)$/);
    expect(result).toMatchObject({
      content: 'The user has answered.\n"Tabs or spaces?" = "both"',
      isError: false,
    });
  });

  test('gemini-cli: a yes or no has its options; an image goes to the model', async () => {
    const image = { type: 'image', mediaType: 'image/png', data: 'iVBORw0KGgo=' } as const;
    const questions = [
      { question: 'Sure?', header: 'Sure', type: 'yesno' },
      { question: 'How?', header: 'How', type: 'text' },
    ];
    const { asked, result } = await answered(createGeminiProfile(native), 'ask_user', questions, [
      'Yes',
      [{ type: 'text', text: 'like this' }, image],
    ]);
    expect(asked.map((question) => question.options)).toEqual([['Yes', 'No'], []]);
    expect(result?.content).toEqual([
      { type: 'text', text: '{"answers":{"0":"Yes","1":"like this"}}' },
      image,
    ]);
  });

  test('too many questions are refused without asking', async () => {
    const questions = Array.from({ length: 5 }, () => style);
    const { asked, result } = await answered(
      createAnthropicProfile(native),
      'AskUserQuestion',
      questions,
      [],
    );
    expect(asked).toEqual([]);
    expect(result).toMatchObject({ isError: true, content: expect.stringContaining('/questions') });
  });
});
