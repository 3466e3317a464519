import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { drivenAgents } from '../native/native-agents.ts';
import { openPermissions } from '../policy/permissions.ts';
import { cases } from './__fixtures__/cases.ts';

const REPOSITORY = join(import.meta.dirname, '../../../..');
const APP_SERVER = 'packages/agents/src/native/codex-app-server';
const LEAD = `${APP_SERVER}/lead-turn.test.ts`;
const STREAM = `${APP_SERVER}/stream.test.ts`;
const DIALOGUE = 'packages/agents/src/kit/dialogue.test.ts';
/** The cases that every adapter plays. */
const CONTRACT = 'contract';
const APART: [file: string, name: string] = [
  CONTRACT,
  'parallel sessions stay separate, and a crash in one does not affect the others',
];
const STAYS: [file: string, name: string] = [
  LEAD,
  'A server that stays gets each turn its own policy, and is greeted once',
];

/**
 * What users of other systems met with agents behind an SDK or a server, and the test that fails if it happens here: first
 * the defects that they have, then the bugs that they had. Where there is no pool and no cache, the test of what takes their
 * place: each case has a process of its own, and a program that stays serves one session.
 */
const DEFECTS: readonly [defect: string, file: string, name: string][] = [
  ['no metadata that all agents share', CONTRACT, 'the metadata is the same for every agent'],
  [
    'a turn counts the tokens of its last model call only',
    STREAM,
    'the usage of a turn is the growth of the thread, over all its model calls',
  ],
  [
    'OpenCode: the same, and neither calls nor denials',
    CONTRACT,
    'a refused call has one shape, which says who refused it and by which rule',
  ],
  [
    'a crash or a flood fails every row',
    'packages/agents/src/contract/eight-at-once.slow.test.ts',
    '$name: a crash, a hang and a flood among eight cases harm no other',
  ],
  ['an interrupted turn is a success', STREAM, 'only a completed turn is a success'],
  [
    'a read-only agent reads outside its folder, and no denial is recorded',
    'packages/agents/src/native/claude-agent-sdk/decide-call.test.ts',
    'an agent that %s is refused',
  ],
  [
    'the key of a stored result changes with each run',
    'packages/whetstone/src/cli/exp.test.ts',
    'a case runs only once for the same work, and each run says which results are old',
  ],
  [
    'assertions about calls need a tracing backend',
    'packages/whetstone/src/eval/assertions/create-assertions.test.ts',
    'calledTool and notCalledTool are opposites, whatever was collected',
  ],
  [
    'the agent works in the folder of the harness',
    CONTRACT,
    'the agent works in the workspace and has its own home',
  ],
  [
    'the variables of the agent do not reach its server',
    CONTRACT,
    "the agent's own variables come before all others",
  ],
  ['large rows fill the memory', CONTRACT, '200 MB of output are not kept in memory'],
  [
    'a start takes seconds',
    'packages/whetstone/src/cli/start-up.test.ts',
    '%s loads the parser of the command line and no code of a command',
  ],
  [
    'Codex has no sandbox below the temporary folder',
    'packages/agents/src/contract/known-defects.test.ts',
    'the temporary folder of a Codex that confines its commands is below its home, not above it',
  ],
  [
    'a call that the sandbox stops is missing',
    'examples/real-agents/codex-app-server.agents.test.ts',
    'commands that may run stay in the sandbox, which none of them can leave',
  ],

  [
    'a start that takes too long leaves its process and its connection',
    LEAD,
    'A server that was to stay is given up after %s that it left open, for it may still begin',
  ],
  ['the policy of the first turn stays', ...STAYS],
  [
    'a process that exits in a turn holds it',
    LEAD,
    'A server that does not answer, refuses or ends does not hold the turn',
  ],
  [
    'what is kept raw has secrets',
    CONTRACT,
    'a secret in the output of a tool is masked in everything that is stored',
  ],
  [
    'the answer has all that was said on the way',
    STREAM,
    'the answer to a schema is the last message, not all that was said on the way',
  ],
  [
    'the older approvals get no answer',
    LEAD,
    'each gets the answer that allows nothing, and is an event with its rule',
  ],
  [
    'a thread that leaves the pool stays subscribed',
    LEAD,
    'A turn is a handshake, a thread, a turn and a leave',
  ],
  [
    'a thread is used after its process has ended',
    DIALOGUE,
    'A program that dies between two turns is started anew',
  ],
  [
    'a listener of an abort stays',
    LEAD,
    'An abort interrupts the turn, and nothing listens to it afterwards',
  ],
  ['a thread of a process that is gone is taken from a cache', CONTRACT, 'a second turn resumes the session'],
  ['a thread in use leaves the pool', ...APART],
  [
    'two turns start at once on one thread',
    'packages/agents/src/drive/drive-agent.test.ts',
    'a prompt that is sent during a turn is refused, and the turn completes',
  ],
  [
    'options of the start are missing in the key of a cache',
    LEAD,
    'A server that stays is asked for what each turn wants, not for what the first one did',
  ],
  [
    'skills are looked for in the home of the harness',
    LEAD,
    'Each part of a prompt is given as Codex takes it, and in words where it takes none',
  ],
  [
    'an answer after the time limit still has effects',
    LEAD,
    'An answer that comes after its time limit starts nothing more',
  ],
  [
    'a turn that is cleaned up never ends',
    DIALOGUE,
    'A crash ends the dialogue, with the exit code of the program',
  ],
  ['notifications are kept that nobody asked for', CONTRACT, '200 MB of output are not kept in memory'],
  ['the end of a run during a handshake', DIALOGUE, 'The time limit ends a dialogue that waits'],
  ['a pool grows over its size', ...APART],
  ['traces of two rows share a thread', `${APP_SERVER}/confinement.test.ts`, 'the options %j are refused'],
  ['an error that is retried ends the turn', STREAM, 'an error that Codex retries does not end the turn'],
  ['a thread is left while another turn waits for it', ...STAYS],
  [
    'a line break or NUL in a message',
    STREAM,
    'text with line breaks, NUL and separators of lines stays whole, and a torn line harms no other',
  ],
];

test.each(DEFECTS)('%s: %s has a test', (_, file, name) => {
  if (file === CONTRACT) expect(Object.keys(cases)).toContain(name);
  // A test, not a sentence of a comment.
  else expect(readFileSync(join(REPOSITORY, file), 'utf8')).toMatch(new RegExp(`\\(\\s*'${escaped(name)}'`));
});

const escaped = (text: string): string => text.replace(/[.*+?^${}()|[\]\\]/g, '\\$&');

test('the temporary folder of a Codex that confines its commands is below its home, not above it', () => {
  const access = { kind: 'key', baseUrl: 'http://127.0.0.1:9', key: 'k' } as const;
  const home = '/tmp/case/home';
  const connection = { access, model: 'm', home, workingDirectory: '/w', permissions: openPermissions };
  for (const kind of ['codex-app-server', 'codex-sdk'] as const) {
    const { env } = drivenAgents[kind].launch.settings(connection);
    const { TMPDIR = '', CODEX_HOME = `${home}/.codex` } = env;
    expect(TMPDIR.startsWith(`${home}/`), kind).toBe(true);
    expect(CODEX_HOME.startsWith(`${TMPDIR}/`), kind).toBe(false);
  }
});
