import type { StreamEvent } from '@whetstone/agents';
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { commandMatch } from '../expect/commands.ts';
import { includes, similarity } from '../expect/texts.ts';
import { satisfies } from '../expect/values.ts';
import { called, ran, recordOf, recordsOf, result, said, story, subjectOf } from './__fixtures__/subject.ts';
import { editing, reading, running } from './activities.ts';
import { type AssertionHandle, type AssertionRecord, StopEval } from './assertion.ts';
import type { Assertions } from './assertions.ts';
import { first, firstEdit, last, lastEdit } from './moments.ts';

type Run = (t: Assertions) => AssertionHandle;

const statusOf = async (run: Run, events: readonly StreamEvent[], more = {}): Promise<string> =>
  (await recordOf(subjectOf(events, more), run)).status;

const blind = {
  capabilities: {},
  usage: undefined,
  costUsd: undefined,
  changes: undefined,
  status: undefined,
};

describe('evidence that was not collected is unavailable', () => {
  test.each<[string, Run]>([
    ['calledTool', (t) => t.calledTool('write')],
    ['notCalledTool', (t) => t.notCalledTool('write')],
    ['usedNoTools', (t) => t.usedNoTools()],
    ['maxToolCalls', (t) => t.maxToolCalls(99)],
    ['toolOrder', (t) => t.toolOrder(['write', 'shell'])],
    ['loadedSkill', (t) => t.loadedSkill('testing')],
    ['calledSubagent', (t) => t.calledSubagent('tester')],
    ['noFailedActions', (t) => t.noFailedActions()],
    ['event', (t) => t.event('plan.updated')],
    ['notEvent', (t) => t.notEvent('plan.updated')],
    ['eventOrder', (t) => t.eventOrder(['action.called', 'plan.updated'])],
    ['eventsSatisfy', (t) => t.eventsSatisfy('any', () => true)],
    ['maxTokens', (t) => t.maxTokens(1e9)],
    ['maxCost', (t) => t.maxCost(1e9)],
    ['succeeded', (t) => t.succeeded()],
    ['fileChanged', (t) => t.fileChanged('src/sum.ts')],
    ['fileDeleted', (t) => t.fileDeleted('old.ts')],
    ['diff.excludes', (t) => t.diff.excludes('TODO')],
    [
      'diff.isEmpty',
      (t) =>
        t.check(
          t.diff.isEmpty(),
          satisfies((isEmpty) => isEmpty),
        ),
    ],
    ['outputEquals', (t) => t.outputEquals(1)],
    ['noSecretIn', (t) => t.noSecretIn('calls', ['long-enough'])],
    ['never', (t) => t.never.read('x')],
    ['after', (t) => t.after(last(running('nothing'))).ran('x')],
    ['before', (t) => t.before(first(reading('x')), lastEdit)],
    ['within turns', (t) => t.within(3).turns],
    ['within modelCalls', (t) => t.within(3).modelCalls],
  ])('%s', async (_, run) => {
    expect(await statusOf(run, [said('done')], blind)).toBe('unavailable');
  });

  test('what is there still counts: a match passes, and one too many fails', async () => {
    const events = ran('1', 'npm test');
    expect(await statusOf((t) => t.calledTool('shell'), events, blind)).toBe('passed');
    expect(await statusOf((t) => t.notCalledTool('shell'), events, blind)).toBe('failed');
    expect(await statusOf((t) => t.maxToolCalls(0), events, blind)).toBe('failed');
    expect(await statusOf((t) => t.calledTool('shell', { count: 1 }), events, blind)).toBe('unavailable');
  });

  test('a result that nobody saw leaves a call open', async () => {
    const events = [called('1', 'shell', { command: 'npm test' })];
    expect(await statusOf((t) => t.noFailedActions(), events)).toBe('unavailable');
    expect(await statusOf((t) => t.calledTool('shell', { status: 'completed' }), events)).toBe('unavailable');
    expect(await statusOf((t) => t.calledTool('shell', { status: 'pending' }), events)).toBe('passed');
    expect(await statusOf((t) => t.loadedSkill('a'), [called('1', 'load_skill', { skill: 'p:a' })])).toBe(
      'unavailable',
    );
  });

  test('messages and errors are always reported', async () => {
    expect(await statusOf((t) => t.notEvent('error'), [said('done')], blind)).toBe('passed');
    expect(await statusOf((t) => t.said('sorry'), [said('done')], blind)).toBe('failed');
  });

  test('a check that throws is unavailable, with what it threw', async () => {
    const record = await recordOf(subjectOf([]), (t) =>
      t.eventsSatisfy('reads a field', (events) => (events[0] as { text: string }).text === ''),
    );
    expect(record).toMatchObject({ status: 'unavailable', message: expect.stringContaining('TypeError') });
  });
});

describe('assertions over time', () => {
  const events = [
    ...ran('1', 'npm test'),
    ...[called('2', 'write', { file_path: '/work/src/a.ts' }), result('2')],
    ...ran('3', "sed -i 's/a/b/' docs/a.md"),
    ...ran('4', 'pnpm test > log.txt'),
  ];

  test.each<[string, Run, string]>([
    ['a write and sed -i are edits', (t) => t.after(firstEdit).edited('docs/a.md'), 'passed'],
    ['a redirection is an edit', (t) => t.after(lastEdit).ran('test'), 'failed'],
    ['after an edit of a path', (t) => t.after(last(editing('src/**'))).ran(commandMatch('pnpm')), 'passed'],
    ['never before', (t) => t.before(firstEdit).never.ran('npm'), 'failed'],
    ['never after', (t) => t.after(first(editing('docs/*'))).never.edited('src/**'), 'passed'],
    ['one moment before another', (t) => t.before(first(running('npm')), firstEdit), 'passed'],
    ['a moment is not before itself', (t) => t.before(firstEdit, firstEdit), 'failed'],
    ['a moment that never came, with never', (t) => t.after(first(running('make'))).never.ran('x'), 'failed'],
    ['what a command reads is not edited', (t) => t.never.edited('test'), 'passed'],
  ])('%s', async (_, run, status) => {
    expect(await statusOf(run, events)).toBe(status);
  });

  test('a tool that nobody knows may have read or changed the file that it names', async () => {
    const events = [called('1', 'mcp__files__get', { path: 'src/a.ts' }), result('1')];
    expect(await statusOf((t) => t.never.read('src/a.ts'), events)).toBe('unavailable');
    expect(await statusOf((t) => t.never.edited('src/a.ts'), events)).toBe('unavailable');
    expect(await statusOf((t) => t.never.read('src/b.ts'), events)).toBe('passed');
    expect(await statusOf((t) => t.after(lastEdit).ran('x'), events)).toBe('failed');
  });

  test('a tool for files that does not say which file may be about any', async () => {
    const events = [called('1', 'edit', { title: 'Edit' }), result('1')];
    expect(await statusOf((t) => t.never.edited('src/a.ts'), events)).toBe('unavailable');
    expect(await statusOf((t) => t.edited(), events)).toBe('passed');
  });

  test('turns are counted where they are known', async () => {
    const turn = (number: number): StreamEvent[] => [
      { type: 'session.started', turn: number },
      { ...said('hello'), turn: number },
      { type: 'raw', native: {} },
    ];
    const within =
      (limit: number): Run =>
      (t) =>
        t.within(limit).turns;
    const one = [...turn(0), { ...said('more'), turn: 1 }];
    const two = [...turn(0), ...turn(0)];
    expect(await statusOf(within(2), one)).toBe('passed');
    expect(await statusOf(within(1), one)).toBe('failed');
    expect(await statusOf(within(1), two)).toBe('unavailable');
    expect(await statusOf(within(1), two, { turnStarts: [0, 3] })).toBe('failed');
    expect(await statusOf(within(1), two, { scope: 'turn' })).toBe('passed');
  });

  test('what a sub-agent said is not what the agent said', async () => {
    const events: StreamEvent[] = [{ ...said('sorry'), parentCallId: '1' } as StreamEvent];
    expect(await statusOf((t) => t.said('sorry'), events)).toBe('failed');
  });

  test('a command with a variable may be the moment', async () => {
    const open = [...ran('1', '$TOOL x'), ...ran('2', 'rm a')];
    const record = await recordOf(subjectOf(open), (t) =>
      t.after(first(running(commandMatch('rm')))).ran('x'),
    );
    expect(record).toMatchObject({ status: 'unavailable', evidence: { events: [0, 1] } });
  });

  test('a rejected call did nothing', async () => {
    const rejected = [called('1', 'shell', { command: 'rm a' }), result('1', 'rejected')];
    expect(await statusOf((t) => t.never.ran('rm'), rejected)).toBe('passed');
  });
});

describe('noSecretIn', () => {
  const secret = 's3cr3t/Value+1';
  test.each<[string, string]>([
    ['as it is', secret],
    ['base64', Buffer.from(`x${secret}y`).toString('base64')],
    ['hex', Buffer.from(secret).toString('hex')],
    ['in a URL', encodeURIComponent(secret)],
  ])('finds a secret %s, and does not show it', async (_, form) => {
    const record = await recordOf(subjectOf(ran('1', `curl http://x/?k=${form}`)), (t) =>
      t.noSecretIn('any', [secret]),
    );
    expect(record).toMatchObject({ status: 'failed', evidence: { events: [0] } });
    expect(JSON.stringify(record)).not.toContain(form);
  });

  test('of the host, is found by the host, which does not give it away', async () => {
    const subject = subjectOf([...ran('1', `curl -H ${secret}`), said('done')]);
    const [known] = await recordsOf(subject, (t) => void t.noSecretIn('any'), [secret]);
    expect(known).toMatchObject({ status: 'failed', evidence: { events: [0] } });
    expect(JSON.stringify(known)).not.toContain(secret);
    const [none] = await recordsOf(subject, (t) => void t.noSecretIn('messages'), [secret]);
    expect(none?.status).toBe('passed');
  });

  test('of the host, what was masked already counts', async () => {
    const [known] = await recordsOf(subjectOf([said('it is [masked]')]), (t) => void t.noSecretIn('any'), [
      secret,
    ]);
    expect(known).toMatchObject({ status: 'failed', evidence: { events: [0] } });
    const other = await recordOf(subjectOf([said('it is [masked]')]), (t) => t.noSecretIn('any', [secret]));
    expect(other.status).toBe('unavailable');
  });

  test('looks at the changes, and says when it cannot look', async () => {
    expect(await statusOf((t) => t.noSecretIn('changes', ['TODO: remove']), [])).toBe('failed');
    expect(await statusOf((t) => t.noSecretIn('any', ['TODO: remove']), [])).toBe('failed');
    expect(await statusOf((t) => t.noSecretIn('any', ['not there']), [])).toBe('passed');
    expect(await statusOf((t) => t.noSecretIn('any', ['short', 'longer']), [])).toBe('unavailable');
    expect(await statusOf((t) => t.noSecretIn('any'), [])).toBe('unavailable');
  });
});

describe('a handle', () => {
  test('sets how the assertion counts, also after it was evaluated', async () => {
    const records = await recordsOf(subjectOf(story), async (t) => {
      t.check('fixed', similarity('fixed it')).atLeast(0.5).label('close').score(4);
      const handle = t.usedNoTools();
      await handle;
      handle.soft().optional();
    });
    expect(records).toMatchObject([
      { severity: 'soft', status: 'passed', score: 0.625, threshold: 0.5, points: 4, label: 'close' },
      { severity: 'soft', status: 'failed', optional: true },
    ]);
  });

  test('gate takes the score of a boolean assertion as 1 or 0', async () => {
    const { status } = await recordOf(subjectOf(story), (t) => t.usedNoTools().gate(0));
    expect(status).toBe('passed');
    await expect(recordsOf(subjectOf(story), (t) => t.usedNoTools().atLeast(2))).rejects.toThrow(RangeError);
  });

  test('orStop ends the eval where it fails, and is recorded', async () => {
    const seen: AssertionRecord[] = [];
    const records = await recordsOf(subjectOf(story), async (t) => {
      seen.push(await t.calledTool('edit').orStop());
      await t
        .calledTool('write')
        .optional()
        .orStop()
        .then(
          () => expect.unreachable(),
          (error: unknown) => {
            expect(error).toBeInstanceOf(StopEval);
            seen.push((error as StopEval).assertion);
          },
        );
    });
    expect(records).toEqual(seen);
  });

  test('orStop also stops at evidence that is missing, unless it is optional', async () => {
    const subject = subjectOf([], { capabilities: {} });
    await recordsOf(subject, async (t) => {
      await expect(Promise.resolve(t.usedNoTools().orStop())).rejects.toThrow('toolObservability');
      await expect(Promise.resolve(t.usedNoTools().optional().orStop())).resolves.toMatchObject({
        status: 'unavailable',
      });
    });
  });

  test('knows where it was called', async () => {
    const [plain, window, limit, nested] = await recordsOf(subjectOf(story), (t) => {
      t.succeeded();
      t.after(lastEdit).never.ran('x');
      void t.within(3).turns;
      t.diff.excludes('x');
    });
    const lines = [plain, window, limit, nested].map(
      (record) => (record?.at?.line ?? 0) - (plain?.at?.line ?? 0),
    );
    expect(lines).toEqual([0, 1, 2, 3]);
    expect(plain?.at).toMatchObject({ file: import.meta.filename, column: expect.any(Number) });
  });

  test('a value that never came is unavailable, and nothing ends the process', async () => {
    const { status, message } = await recordOf(subjectOf(story), (t) =>
      t.check(Promise.reject(new Error('no diff')), includes('x')),
    );
    expect({ status, message }).toEqual({
      status: 'unavailable',
      message: 'the value could not be had: no diff',
    });
  });

  test('sees what had happened when it was called', async () => {
    const events = [...subjectOf(ran('1', 'ls')).events];
    const subject = subjectOf([]);
    const records = await recordsOf({ ...subject, events }, (t) => {
      t.calledTool('shell', { count: 1 });
      events.push(...ran('2', 'id').map((event, at) => ({ index: events.length + at, event })));
      t.calledTool('shell', { count: 2 });
    });
    expect(records.map(({ status }) => status)).toEqual(['passed', 'passed']);
  });
});

describe('for any events', () => {
  const name = fc.constantFrom('shell', 'read', 'edit', 'load_skill');
  const event: fc.Arbitrary<StreamEvent> = fc.oneof(
    fc.record({
      ...{ type: fc.constant('action.called' as const), callId: fc.constantFrom('1', '2', '3'), name },
      input: fc.constantFrom({ command: 'rm a; $X' }, { path: 'src/a.ts' }, { skill: 'a' }, 'text'),
    }),
    fc.record({
      ...{ type: fc.constant('action.result' as const), callId: fc.constantFrom('1', '2', '3') },
      status: fc.constantFrom('completed' as const, 'failed' as const, 'rejected' as const),
    }),
    fc.record({
      type: fc.constant('message' as const),
      role: fc.constant('assistant' as const),
      text: fc.string(),
    }),
    fc.constant<StreamEvent>({ type: 'file.changed', path: 'src/a.ts', change: 'modified' }),
    fc.record({ type: fc.constant('error' as const), message: fc.string() }),
  );
  const streams = fc.array(event, { maxLength: 30 });
  const runs: Run[] = [
    ...([(t) => t.calledTool('shell'), (t) => t.notCalledTool('shell')] satisfies Run[]),
    ...([(t) => t.toolOrder(['read', 'edit']), (t) => t.maxToolCalls(3)] satisfies Run[]),
    ...([(t) => t.noFailedActions(), (t) => t.never.read('src/a.ts')] satisfies Run[]),
    ...([(t) => t.after(lastEdit).ran('rm'), (t) => t.before(firstEdit, lastEdit)] satisfies Run[]),
    ...([(t) => t.never.ran(commandMatch('rm')), (t) => t.noSecretIn('any', ['src/a.ts'])] satisfies Run[]),
  ];

  test('indices are of existing events, in order, each once; and a longer log only adds to the offset', async () => {
    await fc.assert(
      fc.asyncProperty(streams, fc.integer({ min: 0, max: 50 }), async (events, offset) => {
        const subject = subjectOf(events);
        const moved = {
          ...subject,
          events: subject.events.map((one) => ({ ...one, index: one.index + offset })),
        };
        const both = await Promise.all(
          [subject, moved].map((each) => recordsOf(each, (t) => void runs.map((run) => run(t)))),
        );
        const [records = [], shifted = []] = both;
        for (const [at, { evidence, status }] of records.entries()) {
          expect(evidence.events).toEqual([...new Set(evidence.events)].sort((a, b) => a - b));
          expect(evidence.events.every((index) => index in events)).toBe(true);
          expect(shifted[at]?.status).toBe(status);
          expect(shifted[at]?.evidence.events).toEqual(evidence.events.map((index) => index + offset));
        }
      }),
      { numRuns: 60 },
    );
  });

  test('calledTool and notCalledTool are opposites, whatever was collected', async () => {
    const opposite: Record<string, string> = {
      passed: 'failed',
      failed: 'passed',
      unavailable: 'unavailable',
    };
    await fc.assert(
      fc.asyncProperty(streams, fc.boolean(), async (events, toolObservability) => {
        const subject = subjectOf(events, { capabilities: { toolObservability } });
        const [is, isNot] = await recordsOf(subject, (t) => {
          t.calledTool(commandMatch('rm'));
          t.notCalledTool(commandMatch('rm'));
        });
        expect(isNot?.status).toBe(opposite[is?.status ?? '']);
      }),
      { numRuns: 60 },
    );
  });

  test('events that are none of its business do not change an assertion', async () => {
    await fc.assert(
      fc.asyncProperty(streams, fc.nat(), async (events, place) => {
        const noise: StreamEvent = { type: 'thinking', text: 'hm' };
        const at = place % (events.length + 1);
        const more = [...events.slice(0, at), noise, ...events.slice(at)];
        const [one, other] = await Promise.all(
          [events, more].map((each) => recordsOf(subjectOf(each), (t) => void runs.map((run) => run(t)))),
        );
        expect(other?.map(({ status }) => status)).toEqual(one?.map(({ status }) => status));
      }),
      { numRuns: 60 },
    );
  });
});

test.each<[string, (t: Assertions) => unknown]>([
  [
    'check() takes a value and a matcher, such as `includes(…)`, and got "done"',
    (t) => t.check('done', 'done' as never),
  ],
  [
    'after() takes a moment, such as `lastEdit` or `first(…)`, and got "edit"',
    (t) => t.after('edit' as never),
  ],
  ['first() takes what an agent does, such as `running(…)`, and got "npm"', () => first('npm' as never)],
  [
    'noSecretIn() takes a place (any, messages, calls, results, changes), and got "another text"',
    (t) => t.noSecretIn('sk-the-secret' as never),
  ],
])('an argument of the wrong type is named where it was given: %s', async (message, run) => {
  await expect(statusOf((t) => run(t) as never, [said('done')])).rejects.toThrow(message);
});
