import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { eventStreams } from '../__fixtures__/event-streams.ts';
import { richStream } from '../__fixtures__/rich-stream.ts';
import { type StreamEvent, streamEventSchema } from '../index.ts';
import { present } from '../present.ts';
import { AtifError, type AtifVersion, atifTrajectorySchema, readAtif, writeAtif } from './index.ts';

const agent = { agentName: 'example-agent', agentVersion: '1.2.3' };
const versions: AtifVersion[] = ['1.0', '1.1', '1.2', '1.3', '1.4', '1.5', '1.6', '1.7', '1.8'];

/** What a file would have: no `undefined`, no shared objects. */
const stored = <Value>(value: Value): Value => JSON.parse(JSON.stringify(value));

describe('writing', () => {
  test('gives the recorded document for a rich stream', async () => {
    const written = writeAtif(richStream, agent);
    await expect(`${JSON.stringify(written, null, 2)}\n`).toMatchFileSnapshot(
      '../__fixtures__/rich-stream.atif.json',
    );
  });

  test.each(versions)('%s keeps the rules of its version', (version) => {
    const { trajectory } = writeAtif(richStream, { ...agent, version, trajectoryId: 'document-1' });
    expect(trajectory.schema_version).toBe(`ATIF-v${version}`);
    expect(atifTrajectorySchema.safeParse(stored(trajectory)).error).toBeUndefined();
  });

  test('counts cached tokens as part of the prompt', () => {
    const { trajectory } = writeAtif(richStream, agent);
    const step = trajectory.steps.find((candidate) => candidate.metrics);
    expect(step?.metrics).toMatchObject({ prompt_tokens: 1050, cached_tokens: 900, completion_tokens: 40 });
    expect(trajectory.final_metrics).toMatchObject({ total_prompt_tokens: 2350, total_cached_tokens: 900 });
  });

  test('refuses an empty stream, because the format has no empty trajectory', () => {
    expect(() => writeAtif([], agent)).toThrow(AtifError);
  });
});

describe('any stream, written', () => {
  const written = (events: StreamEvent[], version: AtifVersion = '1.8') => {
    try {
      return writeAtif(events, { ...agent, version });
    } catch (error) {
      expect(error).toBeInstanceOf(AtifError);
      return undefined;
    }
  };

  test('is a valid document in every version', () => {
    fc.assert(
      fc.property(eventStreams(), fc.constantFrom(...versions), (events, version) => {
        const result = written(events, version);
        if (!result) return;
        const parsed = atifTrajectorySchema.safeParse(stored(result.trajectory));
        expect(parsed.error?.issues).toBeUndefined();
      }),
    );
  });

  test('is read with every event or lists it as lost, and has no other events', () => {
    fc.assert(
      fc.property(eventStreams(), fc.constantFrom<AtifVersion>('1.6', '1.8'), (events, version) => {
        const result = written(events, version);
        if (!result) return;
        const read = readAtif(stored(result.trajectory));
        for (const event of read.events) expect(streamEventSchema.parse(event)).toEqual(event);
        for (const type of new Set(events.map((event) => event.type))) {
          if (type === 'session.started') continue;
          const lost = result.lost.filter((loss) => loss.what === type);
          const count = (all: StreamEvent[]) => all.filter((event) => event.type === type).length;
          expect(count(read.events) + lost.reduce((sum, loss) => sum + loss.count, 0)).toBe(count(events));
        }
        const before = events.map(core);
        for (const event of read.events.slice(1).map(core)) {
          const index = before.indexOf(event);
          expect(index, event).toBeGreaterThanOrEqual(0);
          before.splice(index, 1);
        }
      }),
      { numRuns: 300 },
    );
  });

  test('keeps an output of null apart from the text null', () => {
    const outputs = [null, 'null', undefined];
    const events = outputs.flatMap((output, index): StreamEvent[] => [
      { type: 'action.called', callId: `call-${index}`, name: 'read', input: {} },
      { type: 'action.result', callId: `call-${index}`, ...present({ output }), status: 'completed' },
    ]);
    const read = readAtif(stored(writeAtif(events, agent).trajectory)).events;
    const results = read.filter((event) => event.type === 'action.result');
    expect(results.map(({ output }) => output)).toEqual(outputs);
  });

  test('is the same when it is read, written and read again', () => {
    fc.assert(
      fc.property(eventStreams(), (events) => {
        const result = written(events);
        if (!result) return;
        const read = readAtif(stored(result.trajectory)).events;
        const again = writeAtif(read, agent);
        expect(again.lost).toEqual([]);
        expect(readAtif(stored(again.trajectory)).events).toEqual(read);
      }),
      { numRuns: 300 },
    );
  });

  /** An event without its time, turn and source, because a step has only one of each, and without an inferred model. */
  function core(event: StreamEvent): string {
    const { at, turn, source, ...rest } = event;
    if (rest.type === 'usage') delete rest.model;
    return JSON.stringify(Object.entries(rest).sort(([a], [b]) => (a < b ? -1 : 1)));
  }
});

describe('reading', () => {
  const document = (steps: unknown[], more: Record<string, unknown> = {}) => ({
    schema_version: 'ATIF-v1.4',
    session_id: 's',
    agent: { name: 'other-agent', version: '9', model_name: 'm' },
    steps,
    ...more,
  });

  test('reads a document of another program', () => {
    const { events, metadata, lost } = readAtif(
      document(
        [
          { step_id: 1, source: 'system', message: 'You are helpful.' },
          {
            step_id: 2,
            source: 'user',
            message: [
              { type: 'text', text: 'Hi' },
              { type: 'image', source: {} },
            ],
          },
          {
            step_id: 3,
            timestamp: '2025-10-16T14:30:00+02:00',
            source: 'agent',
            message: 'I list.',
            reasoning_content: 'Hm.',
            reasoning_effort: 'low',
            tool_calls: [{ tool_call_id: 'c', function_name: 'ls', arguments: { path: '.' } }],
            observation: { results: [{ source_call_id: 'c', content: 'a.ts' }, { content: 'screen' }] },
            metrics: { prompt_tokens: 100, completion_tokens: 7, cached_tokens: 90, logprobs: [-1] },
          },
        ],
        { notes: null, final_metrics: { total_prompt_tokens: 100 } },
      ),
    );
    expect(events).toEqual([
      { type: 'session.started', sessionId: 's', runtime: 'other-agent', runtimeVersion: '9', model: 'm' },
      { type: 'raw', native: { source: 'system', message: 'You are helpful.' } },
      { type: 'message', role: 'user', text: 'Hi' },
      { type: 'thinking', text: 'Hm.', at: '2025-10-16T12:30:00.000Z' },
      { type: 'message', role: 'assistant', text: 'I list.' },
      { type: 'action.called', callId: 'c', name: 'ls', input: { path: '.' } },
      { type: 'action.result', callId: 'c', output: 'a.ts', status: 'completed' },
      { type: 'raw', native: { observation: { content: 'screen' } } },
      { type: 'usage', usage: { inputTokens: 10, outputTokens: 7, cacheReadTokens: 90 }, model: 'm' },
    ]);
    expect(metadata).toEqual({
      schemaVersion: 'ATIF-v1.4',
      sessionId: 's',
      agentName: 'other-agent',
      agentVersion: '9',
      model: 'm',
      totals: { promptTokens: 100 },
    });
    expect(lost.map((loss) => loss.what)).toEqual([
      'message image',
      'step.reasoning_effort',
      'metrics.logprobs',
    ]);
  });

  test('lists a later minor version and unknown keys as lost, and does not refuse them', () => {
    const { lost } = readAtif(
      document([{ step_id: 1, source: 'user', message: 'x', mood: 'good' }], {
        schema_version: 'ATIF-v1.12',
        colour: 'red',
      }),
    );
    expect(lost.map((loss) => loss.what)).toEqual([
      'trajectory.colour',
      'schema_version ATIF-v1.12',
      'step.mood',
    ]);
  });

  test('reads sub-agents: one that a call refers to, one in another file, one that nothing refers to', () => {
    const embedded = (id: string, message: string) => ({
      schema_version: 'ATIF-v1.7',
      trajectory_id: id,
      agent: { name: `agent ${id}`, version: '1' },
      steps: [{ step_id: 1, source: 'agent', message }],
    });
    const call = (id: string, references: unknown[]) => ({
      step_id: 1,
      source: 'agent',
      message: '',
      tool_calls: [{ tool_call_id: id, function_name: 'task', arguments: { prompt: 'go' } }],
      observation: {
        results: [{ source_call_id: id, content: 'ok', subagent_trajectory_ref: references }],
      },
    });
    const { events, lost } = readAtif(
      document([call('1', [{ trajectory_id: 't1' }]), call('2', [{ trajectory_path: 'other.json' }])], {
        schema_version: 'ATIF-v1.7',
        subagent_trajectories: [embedded('t1', 'one'), embedded('t2', 'two')],
      }),
    );
    expect(events.slice(1)).toEqual([
      { type: 'action.called', callId: '1', name: 'task', input: { prompt: 'go' } },
      { type: 'subagent.called', callId: '1', name: 'agent t1' },
      { type: 'message', role: 'assistant', text: 'one', parentCallId: '1' },
      { type: 'subagent.completed', callId: '1', output: 'ok', status: 'completed' },
      { type: 'action.result', callId: '1', output: 'ok', status: 'completed' },
      { type: 'action.called', callId: '2', name: 'task', input: { prompt: 'go' } },
      { type: 'subagent.called', callId: '2', name: 'task' },
      { type: 'subagent.completed', callId: '2', output: 'ok', status: 'completed' },
      { type: 'action.result', callId: '2', output: 'ok', status: 'completed' },
      { type: 'subagent.called', callId: 't2', name: 'agent t2' },
      { type: 'message', role: 'assistant', text: 'two', parentCallId: 't2' },
    ]);
    expect(lost).toEqual([
      { what: 'agent.version', count: 2, why: 'events do not have it for a sub-agent' },
      { what: 'subagent_trajectory_ref', count: 1, why: 'the trajectory is not in the document' },
    ]);
  });

  test.each([
    [null, ''],
    [{ schema_version: '2.0' }, 'schema_version'],
    [document([{ step_id: 1, source: 'user', message: 5 }]), 'steps.0.message'],
    [document([], { agent: {} }), 'agent.name'],
  ])('what is not ATIF is refused with its place: %#', (value, where) => {
    expect(() => readAtif(value)).toThrow(expect.objectContaining({ name: 'AtifError', where }));
  });

  test('refuses endless nesting before it exhausts the stack', () => {
    let nested: unknown = document([]);
    for (let depth = 0; depth < 500; depth += 1) nested = document([], { subagent_trajectories: [nested] });
    expect(() => readAtif(nested)).toThrow(AtifError);
  });
});
