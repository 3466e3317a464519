import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, expect, test } from 'vitest';
import { makeEvals, removeEvals } from './__fixtures__/eval-project.ts';

afterAll(removeEvals);

/** Asks in the middle of a turn, or ends the turn with a question; any other message comes back. Keeps its steps in a file. */
const ASKER = `
import { appendFileSync } from 'node:fs';
import { defineExperiment } from 'whetstone';
import { defineAgent } from 'whetstone/adapter';

const note = (step) => () => appendFileSync(new URL('../steps.txt', import.meta.url), step + ' ');

const asker = defineAgent({
  name: 'asker',
  capabilities: { conversation: true, toolObservability: true },
  async send({ text, items, response }, { session, ask }) {
    session.id ??= 'one';
    const say = (reply) => ({ events: [{ type: 'message', role: 'assistant', text: reply }], status: 'completed' });
    if (text.startsWith('run ')) {
      const decided = await ask?.({ callId: '1', kind: 'command', command: text.slice(4) });
      return say(decided ? decided.decision + ' by ' + decided.rule : 'nobody was asked');
    }
    if (text === 'choose') {
      const questions = [{ id: 'q', text: 'Which colour?', options: ['red', 'blue'] }];
      return say('took ' + (await ask({ callId: '1', kind: 'question', questions }))?.answers?.q);
    }
    if (text === 'wait') {
      const request = { id: 'r1', prompt: 'Deploy?', options: [{ id: 'y', label: 'yes' }, { id: 'n', label: 'no' }] };
      return { events: [{ type: 'input.requested', request }], status: 'waiting' };
    }
    if (items) {
      note('turn')();
      return say(items.map(({ type, path, name }) => type + ' ' + (path ?? name)).join(', '));
    }
    if (text === 'leak') return say('the key is ' + process.env.TEAM_API_KEY);
    return say(response ? JSON.stringify(response) : 'you said: ' + text);
  },
});
export default defineExperiment({ agent: asker, setup: note('setup'), teardown: note('teardown') });
`;

const evalFile = (body: string): string =>
  `import { defineEval, equals, includes } from 'whetstone';\nexport default defineEval({\n  async test(t) {\n${body}\n  },\n});\n`;

test('an eval answers what the agent asks, skips itself, and finds secrets that it does not know', async () => {
  const project = makeEvals({
    'experiments/base.ts': ASKER,
    'evals/respond.eval.ts': evalFile(`
    t.respond(({ kind, prompt, options }) => {
      if (kind === 'command') return prompt === 'npm test' ? true : prompt.startsWith('rm') ? false : undefined;
      return options[1];
    });
    const said = async (text) => (await t.send(text)).reply;
    t.check(await said('run npm test'), includes('approved by t.respond'));
    t.check(await said('run rm -rf .'), includes('denied by t.respond'));
    t.check(await said('run other'), includes('nobody was asked'));
    t.check(await said('choose'), includes('took blue'));
    const waiting = await t.send('wait');
    const next = await t.respond('yes');
    t.check([waiting.status, next.reply], includes('{"id":"r1","option":"y","answer":"yes"}'));
    const other = t.newSession();
    t.check((await other.send('run npm test')).reply, includes('nobody was asked'));`),
    'evals/late.eval.ts': evalFile("    await t.send('hello');\n    t.respond(() => true);"),
    'evals/idle.eval.ts': evalFile("    await t.send('hello');\n    await t.respond('yes');"),
    'evals/skips.eval.ts': evalFile(
      "    await t.send('hello');\n    t.calledTool('sing');\n    t.skip('there is no <microphone>');",
    ),
    'evals/unreasoned.eval.ts': evalFile("    t.skip(' ');"),
    'evals/leak.eval.ts': evalFile(
      "    await t.send('leak');\n    t.noSecretIn('any');\n    t.check(process.env.TEAM_API_KEY ?? 'not there', includes('not there'));",
    ),
    'evals/parts.eval.ts': evalFile(`
    const items = [{ type: 'image', path: 'a.png' }, { type: 'file', path: 'b.ts' }, { type: 'skill', name: 'tea' }];
    t.check((await t.send({ text: 'Look.', items })).reply, equals('image a.png, file b.ts, skill tea'));`),
    'evals/quiet.eval.ts': evalFile("    await t.send('hello');\n    t.noSecretIn('any');"),
  });
  const secret = 'sk-live-0123456789';
  const { stdout, stderr } = await project.whetstone(['exp', '--jobs', '2', '--junit', 'out.xml'], {
    TEAM_API_KEY: secret,
  });
  const rows = project.rows();
  expect(rows.respond?.evidence).toBe(null);
  expect(rows.respond).toMatchObject({ outcome: 'passed', turns: 7 });
  expect(rows.late?.evidence).toContain('before the first message of its session');
  expect(rows.idle?.evidence).toContain('does not wait for an answer');
  expect(rows.skips).toMatchObject({
    ...{ outcome: 'skipped', failure_class: null, evidence: 'there is no <microphone>' },
    assertions: [{ status: 'failed' }],
  });
  expect(rows.unreasoned?.evidence).toContain('give the reason');
  expect(rows.leak).toMatchObject({
    outcome: 'failed',
    evidence: expect.stringMatching(/^noSecretIn\("any"\) .*a secret is in 1 event \(message\)/),
    assertions: [{ status: 'failed', evidence: { events: [0] } }, { status: 'passed' }],
  });
  expect([rows.quiet, rows.parts]).toMatchObject([{ outcome: 'passed' }, { outcome: 'passed' }]);
  expect(readFileSync(join(project.root, 'steps.txt'), 'utf8')).toBe('setup turn teardown ');
  expect(`${project.read('leak', 'assertions.json')}${stdout}${stderr}`).not.toContain(secret);

  const skipped = '1 case skipped itself and is in no rate (skips): there is no <microphone>';
  expect(stdout).toContain(skipped);
  expect(stderr).toMatch(/skip .*skips.*there is no <microphone>/);
  const shown = async (...args: string[]) => (await project.whetstone(args)).stdout;
  expect(await shown('report', 'latest')).toContain('1 skipped');
  expect(await shown('report', 'latest', '--format', 'junit')).toContain(
    '<skipped message="there is no &lt;microphone&gt;"/>',
  );
  expect(JSON.parse(await shown('report', 'latest', '--json')).summary).toMatchObject({
    cases: { planned: 8, passed: 3, failed: 1, error: 3, skipped: 1, missing: 0 },
    arms: [{ trials: 4, bounds: [3 / 7, 6 / 7] }],
  });
  expect(await shown('show', 'latest', 'skips')).toMatch(/^skipped\n {2}there is no <microphone>/m);
});

test('a simulated user talks with the agent, by a script or as a model plays it, up to a limit', async () => {
  const project = makeEvals({
    'experiments/base.ts': ASKER.replace('agent: asker', "agent: asker, judge: { model: 'openai/user-1' }"),
    'whetstone.yaml': 'gateway: { mode: script, script: user.mjs }\n',
    'user.mjs': USER_SCRIPT,
    'labels.jsonl': '{"id":"wrong","human":"failed"}\n{"id":"talks","human":"passed"}\n',
    'evals/talks.eval.ts': evalFile(`
    const script = await t.converse({ says: ['one', 'two'] });
    t.check([script.ended, script.turns.length], equals(['reached', 2]));
    const own = await t.converse({ says: (said) => 'message ' + said.length, limit: 3 });
    t.check([own.ended, own.turns.at(-1).reply], equals(['limit', 'you said: message 4']));
    const stopped = await t.converse({ says: ['wait', 'more'] });
    t.check([stopped.ended, stopped.turns.length], equals(['agent', 1]));
    const buyer = await t.newSession().converse({ goal: 'Get a refund', opening: 'Hello', limit: 4 });
    t.check([buyer.ended, buyer.turns.map(({ reply }) => reply)], equals(['reached', ['you said: Hello', 'you said: Refund 1']]));
    const loser = await t.newSession().converse({ goal: 'Get nothing', limit: 4 });
    t.check([loser.ended, loser.turns.length], equals(['given up', 0]));
    t.judge('Is polite');`),
    'evals/wrong.eval.ts': evalFile("    await t.converse({ goal: 'Get broken' });"),
  });
  await project.whetstone(['exp']);
  const { talks, wrong } = project.rows();
  expect(talks?.evidence).toBe(null);
  expect(talks).toMatchObject({ outcome: 'passed', turns: 8, judge: { calls: 4, models: ['user-1'] } });
  expect(wrong).toMatchObject({
    ...{ outcome: 'error', failure_class: 'verifier' },
    evidence: expect.stringMatching(/: the simulated user gave no message: "no idea"$/),
  });
  const rescored = await project.whetstone(['rescore', 'latest']);
  expect(rescored.stdout).toContain('2 cases judged anew, 0 with another outcome');

  const agreement = await project.whetstone(['agreement', 'labels.jsonl', '--run', 'latest']);
  expect(agreement.stdout).toContain('is not defined: only one label occurs');
  expect(agreement.stdout).toContain('Not labelled by the judge: wrong');
  project.write({
    'own.jsonl':
      '{"id":"a","human":1,"judge":1}\n{"id":"b","human":0,"judge":1}\n{"id":"c","human":0,"judge":0}\n',
  });
  const own = await project.whetstone(['agreement', 'own.jsonl']);
  expect(own.stdout).toMatch(
    /^Cohen’s κ 0\.40 \(95 %: .*\n3 items .*\n\nThey disagree on:\n {2}b: people 0, judge 1\n$/,
  );
  expect(await project.whetstone(['agreement', 'none.jsonl'])).toMatchObject({
    exitCode: 2,
    stderr: expect.stringContaining('The labels cannot be read'),
  });
});

/** Wants a refund, and has it after two messages; also judges. */
const USER_SCRIPT = `
export default {
  name: 'user',
  play({ text }) {
    if (text.includes('Criteria:')) return { data: { criteria: [{ met: 'yes', reason: 'Seen.', quotes: ['you said: Hello'] }], manipulation: '' } };
    if (text.includes('Get broken')) return { text: 'no idea' };
    if (text.includes('Get nothing')) return { data: { state: 'given up', message: '' } };
    const said = text.split('"by":"user"').length - 1;
    return { data: said < 2 ? { state: 'open', message: 'Refund ' + said } : { state: 'reached', message: '' } };
  },
};
`;
