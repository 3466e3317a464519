import fc from 'fast-check';

/** What the model does at one call. */
export type Action =
  | { kind: 'text'; text: string }
  | {
      kind: 'tools';
      names: string[];
      ids: string[];
      input: string;
      finish: 'tool-calls' | 'length' | 'content-filter';
    }
  | { kind: 'fail'; status: 400 | 413 | 429 | 500 }
  | { kind: 'reset' | 'break_off' | 'idle' | 'empty' | 'pause' };
/** What the host does meanwhile. `restore`: from here on, a session that is made from a snapshot takes its place. */
export type Move =
  | 'nothing'
  | 'interrupt'
  | 'steer'
  | 'follow_up'
  | 'snapshot'
  | 'fork'
  | 'restore'
  | 'to_openai'
  | 'to_anthropic'
  | 'to_google'
  | 'close';
export type Plan = {
  actions: Action[];
  duringCalls: Move[];
  duringTools: Move[];
  /** What hooks and approvals answer, in the order in which they are asked. */
  answers: ('yes' | 'no' | 'park' | 'throw' | 'change')[];
  inputs: ('plain' | 'resume' | 'schema' | 'malformed')[];
  steeringMode: 'after_round' | 'tool_boundary';
  /** Whether the host asks for reasoning. */
  effort: 'high' | 'unset';
};

/** As long as OpenAI takes an id. */
const LONG_ID = 'call_'.padEnd(64, '0');

const oddText = fc.string({ unit: fc.constantFrom('a', '\ud83d', '\ude00', '😀', '\0', '\n'), maxLength: 6 });
const toolName = fc.constantFrom(
  ...['good', 'good', 'throws', 'odd', 'slow', 'unknown.tool', '3d', 'strict', 'deaf'],
  ...['throws_at_once', 'throws_nothing', 'returns', 'huge', 'late_failure'],
  ...['spawn_agent', 'wait', 'send_input', 'close_agent', 'read_file', 'write_file', 'apply_patch'],
);
/** What is no regular file; the slow tests have them. */
const SPECIAL_FILES = ['pipe', 'socket', 'endless', 'circle'];
const INPUTS = [
  '{}',
  '{"n":1}',
  '{"n":',
  '[]',
  '',
  '{"n":"\\ud83d"}',
  '{"task":"look","agent_id":"x","message":"m"}',
  ...SPECIAL_FILES.flatMap((file) => [
    JSON.stringify({ file_path: file, content: 'x' }),
    JSON.stringify(`*** Begin Patch\n*** Add File: ${file}\n+x\n*** End Patch`),
  ]),
];
const finishReason = fc.constantFrom(
  ...(['tool-calls', 'tool-calls', 'tool-calls', 'length', 'content-filter'] as const),
);
const action: fc.Arbitrary<Action> = fc.oneof(
  { weight: 2, arbitrary: fc.record({ kind: fc.constant('text' as const), text: oddText }) },
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constant('tools' as const),
      names: fc.array(toolName, { minLength: 1, maxLength: 4 }),
      // Ids repeat within a response and across them, are missing, or are what other providers refuse.
      ids: fc.array(fc.constantFrom('', 'a', 'b', 'c', 'functions.good:0', LONG_ID), {
        minLength: 4,
        maxLength: 4,
      }),
      input: fc.constantFrom(...INPUTS.slice(0, 7), ...INPUTS),
      finish: finishReason,
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constant('fail' as const),
      status: fc.constantFrom(...([429, 429, 500, 500, 400, 413] as const)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom(
        ...(['reset', 'reset', 'break_off', 'break_off', 'empty', 'pause', 'idle'] as const),
      ),
    }),
  },
);
const move = fc.oneof(
  { weight: 4, arbitrary: fc.constant<Move>('nothing') },
  {
    weight: 3,
    arbitrary: fc.constantFrom<Move>(
      ...(['interrupt', 'steer', 'follow_up', 'snapshot', 'fork', 'restore'] as const),
      ...(['to_openai', 'to_anthropic', 'to_google'] as const),
    ),
  },
  { weight: 1, arbitrary: fc.constantFrom<Move>('nothing', 'nothing', 'close') },
);
const answer = fc.constantFrom(...(['yes', 'yes', 'yes', 'yes', 'no', 'park', 'throw', 'change'] as const));

export const randomPlan: fc.Arbitrary<Plan> = fc.record({
  actions: fc.array(action, { maxLength: 12 }),
  duringCalls: fc.array(move, { maxLength: 12 }),
  duringTools: fc.array(move, { maxLength: 12 }),
  answers: fc.array(answer, { maxLength: 12 }),
  inputs: fc.array(fc.constantFrom(...(['plain', 'plain', 'resume', 'schema', 'malformed'] as const)), {
    minLength: 1,
    maxLength: 4,
  }),
  steeringMode: fc.constantFrom('after_round', 'tool_boundary'),
  effort: fc.constantFrom('high', 'unset'),
});

