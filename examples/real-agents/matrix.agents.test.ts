import { type DrivenAgentKind, drivenAgentKinds } from '@whetstone/agents/config';
import { addUsage, deriveAgentMetadata, emptyUsage, replyText, totalTokens } from '@whetstone/events';
import { createGateway, defineScript, type LedgerLine } from '@whetstone/gateway';
import { beforeAll, describe, expect, test } from 'vitest';
import { type AgentTurn, KNOWN_MODELS, openAgent } from './drive-agent.ts';
import { matrixTable, type SessionScenario } from './matrix.ts';
import { expectCallsOfTask } from './model-calls.ts';
import { finalFiles, prompt, script } from './task.ts';

const review = '- "Review" README.md, `as it is`, $HOME, a \\ and\n\n{"a": <b>} too. Change nothing.';
const again = 'What was the script called?';

/** What the model is told, and what it answers: the task, a review that only reads, and an answer from memory. */
const model = () => {
  const heard: { userText: string; text: string }[] = [];
  const play = defineScript({
    name: 'three turns',
    play(request) {
      heard.push({ userText: request.userText, text: request.text });
      if (request.userText.includes('What was the script called?')) {
        return { text: request.text.includes('greet.sh') ? 'It was greet.sh.' : 'I do not know.' };
      }
      if (!request.userText.includes('Change nothing.')) return script.play(request);
      if (request.toolResults.length > 0) return { text: 'It greets: nothing to complain about.' };
      return { calls: [{ tool: 'read', path: 'README.md' }] };
    },
  });
  return { heard, play };
};

type Session = {
  turns: AgentTurn[];
  files: Record<string, string>[];
  heard: ReturnType<typeof model>['heard'];
  /** Of each turn. */
  calls: LedgerLine[][];
};

const sessions = new Map<DrivenAgentKind, Session>();
const sessionOf = (kind: DrivenAgentKind): Session => {
  const session = sessions.get(kind);
  if (!session) throw new Error(`${kind} has had no session.`);
  return session;
};

async function play(kind: DrivenAgentKind): Promise<Session> {
  const { heard, play: script } = model();
  await using gateway = await createGateway();
  await using lane = await gateway.open({ owner: kind, mode: { kind: 'script', script } });
  await using session = await openAgent({ kind, lane });
  const turns: AgentTurn[] = [];
  const files: Record<string, string>[] = [];
  const calls: LedgerLine[][] = [];
  for (const [index, text] of [prompt, review, again].entries()) {
    turns.push(await session.turn(text, { timeoutMs: 90_000, restarts: index === 2 }));
    files.push(await session.files());
    calls.push(lane.ledger.slice(calls.flat().length));
  }
  return { turns, files, heard, calls };
}

beforeAll(async () => {
  const queue = drivenAgentKinds.values();
  await Promise.all(
    Array.from({ length: 2 }, async () => {
      for (const kind of queue) sessions.set(kind, await play(kind));
    }),
  );
});

/** The conditions for a cell to be `passed`. */
const shows: Record<SessionScenario, (session: Session) => void> = {
  'workspace write'({ turns, files }) {
    expect(turns[0]?.turn).toMatchObject({ status: 'completed', exit: { ended: 'exit', exitCode: 0 } });
    expect(files[0]).toMatchObject({ ...finalFiles, 'README.md': 'Greetings.\n' });
    const { tools, fileChanges } = deriveAgentMetadata(turns[0]?.turn.events ?? []);
    expect(tools.length + fileChanges.length).toBeGreaterThanOrEqual(4);
  },
  'two turns in one session'({ turns, heard }) {
    expect(turns[1]).toMatchObject({ turn: { status: 'completed' }, sessionId: turns[0]?.sessionId });
    expect(turns[0]?.sessionId).toBeTruthy();
    const second = heard.filter(({ userText }) => userText.includes('Change nothing.'));
    // The prompt as it is, and behind it what was said in the first turn.
    expect(second[0]?.userText).toContain(review);
    expect(second[0]?.text).toContain('Then let it say good day.');
  },
  'read-only review'({ turns, files }) {
    expect(replyText(turns[1]?.turn.events ?? [])).toContain('It greets: nothing to complain about.');
    const { tools } = deriveAgentMetadata(turns[1]?.turn.events ?? []);
    expect(tools).toHaveLength(1);
    expect(JSON.stringify(tools)).toContain('README.md');
    expect(files[1]).toEqual(files[0]);
  },
  'resume after a restart of the harness'({ turns }) {
    expect(turns[2]).toMatchObject({ turn: { status: 'completed' }, sessionId: turns[0]?.sessionId });
    expect(replyText(turns[2]?.turn.events ?? [])).toContain('It was greet.sh.');
  },
};

describe.each(drivenAgentKinds)('%s', (kind) => {
  test.each(Object.entries(shows))('%s', (_, show) => {
    show(sessionOf(kind));
  });

  test('each step of the task is one call over its own wire, of the model that it was given', () => {
    expectCallsOfTask(kind, KNOWN_MODELS[kind], sessionOf(kind).calls[0] ?? []);
  });

  test('each turn has its own tokens, as many as went over the wire', () => {
    const { turns, calls } = sessionOf(kind);
    for (const [index, { turn }] of turns.slice(0, 2).entries()) {
      const usages = (calls[index] ?? []).flatMap(({ usage }) => usage ?? []);
      const wire = usages.reduce(addUsage, emptyUsage());
      expect(totalTokens(turn.usage ?? emptyUsage())).toBe(totalTokens(wire));
    }
  });
});

test('the table in the documents is what is checked here', async () => {
  await expect(matrixTable()).toMatchFileSnapshot('../../docs/agents-matrix.md');
});
