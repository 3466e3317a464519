import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { promisify } from 'node:util';
import { deriveAgentMetadata } from '@whetstone/events';
import { expect } from 'vitest';
import { WhetstoneError } from '@whetstone/errors';
import type { TestAttempt } from '../../__fixtures__/attempt.ts';
import { commandLines } from '../../__fixtures__/command-lines.ts';
import type { Turn } from '../../agent.ts';
import type { ContractRow } from './contract-row.ts';
import type { Flood } from './flood-program.ts';
import { notApplicable } from './not-applicable.ts';
import { type Play, type Stage, teamSecret, userSecret } from './stage.ts';

/** What a case gets: the row, its stage, and plays that several cases share. */
export type Scenery = {
  row: ContractRow;
  stage: Stage;
  /** The first of the three plays at once. */
  task: () => Promise<Play>;
  /** Three plays of one agent at once. Its configuration has variables and inherited files. */
  atOnce: () => Promise<AtOnce>;
  /** Garbled output of an agent whose configuration names the model, and the turn another one. */
  garbled: () => Promise<Play>;
};

/** A task, a crash (or a failure where the agent has no crash), and a task whose turn names the model. */
export type AtOnce = readonly [task: Play, crash: Play, modelOfTurn: Play];

export const CRASH = 'crash before its last word';

/** Whether the agent can crash. */
export const canCrash = ({ name }: ContractRow): boolean =>
  !notApplicable[name]?.['a crash before the end of the turn is reported is a failed turn'];

const run = promisify(execFile);
const HANG_LIMIT_MS = 3_000;
const LONGEST_HANG_MS = 20_000;

/** The error of a rejection. `expect(…).rejects` would blame another case, because the cases run at once. */
export const failureOf = (made: Promise<unknown>) => made.then(() => undefined, (error: unknown) => error);

/**
 * What every adapter must do: the list in the provider taxonomy ("Shared Coding-Agent Provider Test Contract" and the
 * review checklist), and what goes wrong in real runs. `not-applicable.ts` says which case does not apply
 * to which agent.
 */
export const cases = {
  async 'a missing program or module is an error with a hint how to get it'({ row, stage }: Scenery) {
    const user = { ...stage.user, PATH: '/usr/bin:/bin' };
    const made = await row.create({ user, isMissing: true }).catch((error: unknown) => error);
    if (made instanceof WhetstoneError) {
      expect(made.exitCode).toBe(2);
      return expect(made.hint).toMatch(/install|run the module with/i);
    }
    const { turn } = await stage.play('task', { agent: made as never });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit', notStarted: true } });
  },

  async 'a missing key is an error before anything starts'({ row, stage }: Scenery) {
    const error = await failureOf(row.create({ user: stage.user, hasLanes: false }));
    expect(error).toMatchObject({
      code: 'agent-key-missing',
      exitCode: 2,
      message: expect.stringContaining(row.keyVariable ?? ''),
    });
  },

  async 'a variable that is not set is an error before anything starts'({ row, stage }: Scenery) {
    const error = await failureOf(row.create({ user: stage.user, env: { MINE: `\${NOT_SET_HERE}` } }));
    expect(error).toMatchObject({
      code: 'env-missing',
      message: expect.stringContaining('NOT_SET_HERE'),
    });
  },

  async "the agent's own variables come before all others"({ task }: Scenery) {
    const { environment } = await (await task()).seen();
    expect(environment).toMatchObject({
      CONTRACT_SECRET: teamSecret,
      OWN_OR_LANE: 'own',
      XDG_STATE_HOME: '/nowhere/state',
    });
  },

  async 'the agent works in the workspace and has its own home'({ task, stage }: Scenery) {
    const { attempt, seen, token } = await task();
    const { workingDirectory, homeDirectory } = await seen();
    expect(workingDirectory).toBe(attempt.workdir);
    expect(homeDirectory).toBe(attempt.sandbox.home);
    expect(homeDirectory).not.toBe(stage.user.HOME);
    expect(await attempt.sandbox.readFile(`made-${token}.txt`)).toBe(`${token}\n`);
  },

  async 'a turn in a missing workspace does not complete'({ stage }: Scenery) {
    const attempt = await stage.newAttempt();
    await rm(attempt.workdir, { recursive: true });
    const sent = stage.play('task', { attempt });
    const status = await sent.then(
      ({ turn }) => turn.status,
      (error: Error) => error.message,
    );
    expect(status).not.toBe('completed');
  },

  async 'the agent only sees the variables that it was given'({ task }: Scenery) {
    const { environment } = await (await task()).seen();
    expect(environment).not.toHaveProperty('SOMETHING_OF_THE_USER');
    expect(JSON.stringify(environment)).not.toContain(userSecret);
  },

  async 'settings and inherited files exist before the agent starts'({ row, task }: Scenery) {
    const { attempt, seen, kept } = await task();
    const { filesAtHome } = await seen();
    expect(filesAtHome).toEqual(expect.arrayContaining(['.team/login.json', '.team/keys/private']));
    expect(filesAtHome).toEqual(expect.arrayContaining([...(row.settingsFiles ?? [])]));
    const { mode } = await stat(join(attempt.sandbox.home, '.team/keys/private'));
    expect(mode & 0o777).toBe(0o600);
    // A reader of the record sees that the agent had a file of the user.
    expect(await kept()).toContain('~/.team/keys/private');
  },

  async 'the agent gets the model of the configuration'({ garbled }: Scenery) {
    const { seen } = await garbled();
    expect(JSON.stringify(await seen())).toContain('model-of-the-config');
  },

  async 'the agent gets the model of the turn'({ atOnce }: Scenery) {
    const [, , { seen }] = await atOnce();
    expect(JSON.stringify(await seen())).toContain('model-of-the-turn');
  },

  async 'standard input ends after the prompt, so a question gets no answer'({ task }: Scenery) {
    const { standardInput, isTerminal } = await (await task()).seen();
    expect({ standardInput, isTerminal }).toEqual({ standardInput: '', isTerminal: false });
  },

  async 'structured output is data'({ stage }: Scenery) {
    const { agent, turn, token } = await stage.play('structured output');
    expect(agent.capabilities).toMatchObject({ structuredOutput: true });
    expect(turn).toMatchObject({ status: 'completed', data: { answer: token } });
  },

  async 'a second turn resumes the session'({ row, stage, task }: Scenery) {
    const first = await task();
    const { session } = first.attempt.context;
    const { session: agentSession } = await first.seen();
    expect(session.id).toBe(row.hasOwnSession ? sessionIn(first.turn) : agentSession);
    const context = { session: { isNew: false, id: session.id } };
    const { agent, attempt } = first;
    const second = await stage.play('task', { agent, attempt, context });
    expect(second.turn.status).toBe('completed');
    expect(await second.seen()).toMatchObject({ session: agentSession, resumed: agentSession });
    expect([session.id, undefined]).toContain(sessionIn(second.turn));
    // Each turn has its own events, even if the agent keeps one transcript of the session.
    expect(JSON.stringify(second.turn.events)).toContain(second.token);
    expect(JSON.stringify(second.turn.events)).not.toContain(first.token);
    // Each turn has its own tokens, even if the agent reports the usage of the session.
    expect(second.turn.usage).toEqual(first.turn.usage);
  },

  async 'the home of the agent is deleted with the sandbox'({ atOnce }: Scenery) {
    const [, , { attempt, seen, token }] = await atOnce();
    await seen();
    expect(existsSync(attempt.sandbox.home)).toBe(true);
    await attempt.sandbox.stop();
    expect(existsSync(attempt.sandbox.home)).toBe(false);
    expect(existsSync(join(attempt.workdir, `made-${token}.txt`))).toBe(true);
  },

  async 'a time limit ends the whole process tree'({ stage }: Scenery) {
    // On a busy machine an agent may not have begun to hang within the first limit.
    for (let timeoutMs = HANG_LIMIT_MS; ; timeoutMs *= 3) {
      const { attempt, turn, token } = await stage.play('hang', { context: { timeoutMs } });
      expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'timeout' } });
      if (!isHanging(attempt, token) && timeoutMs < LONGEST_HANG_MS) continue;
      await expectTreeGone(attempt, token);
      return;
    }
  },

  async 'an abort ends the whole process tree'({ stage }: Scenery) {
    const abort = new AbortController();
    const { attempt, turn, token } = await stage.play('hang', {
      context: { signal: abort.signal, timeoutMs: 60_000 },
      onStart: (attempt, token) => void whenHanging(attempt, token).then(() => abort.abort()),
    });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
    await expectTreeGone(attempt, token);
  },

  async 'an abort before the start starts nothing'({ stage }: Scenery) {
    const { attempt, turn, token } = await stage.play('task', { context: { signal: AbortSignal.abort() } });
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'abort' } });
    expect(existsSync(join(attempt.workdir, `seen-${token}.json`))).toBe(false);
  },

  async 'a crash before the end of the turn is reported is a failed turn'({ atOnce }: Scenery) {
    const [, { turn, token }] = await atOnce();
    expect(turn).toMatchObject({ status: 'failed', exit: { ended: 'exit', exitCode: 3 } });
    expect(turn.exit?.message).toMatch(/exit code 3/);
    expect(JSON.stringify(turn.events)).toContain('it broke');
    expect(JSON.stringify(turn.events)).toContain(token);
  },

  async 'the exit code does not count once the end of the turn is reported'({ row, stage }: Scenery) {
    const { turn, reply, token } = await stage.play('crash after its last word');
    const status = row.lastWord === 'stream' ? 'completed' : 'failed';
    expect(turn).toMatchObject({ status, exit: { ended: 'exit', exitCode: 3 } });
    expect(reply).toContain(token);
  },

  async 'a reported failure is a failed turn'({ stage }: Scenery) {
    const { turn } = await stage.play('failure');
    expect(turn.status).toBe('failed');
    expect(turn.exit?.ended).toBe('exit');
    expect(turn.exit?.message).toBeTruthy();
    expect(deriveAgentMetadata(turn.events, turn.facts).errors.join()).not.toBe('');
  },

  async 'a refused call has one shape, which says who refused it and by which rule'({ row, stage }: Scenery) {
    const { turn } = await stage.play('refusal');
    expect(turn.status, turn.exit?.message).toBe('completed');
    const { approvals, tools, commands } = deriveAgentMetadata(turn.events, turn.facts);
    expect(tools.map(({ status }) => status)).toEqual(['rejected']);
    expect(commands.map(({ status }) => status)).toEqual(['rejected']);
    const callId = tools[0]?.callId ?? '';
    const by = row.rule === undefined ? { by: 'agent' } : { by: 'policy', rule: row.rule };
    expect(approvals).toEqual([{ callId, decision: 'denied', ...by }]);
    const about = turn.events.filter((event) => 'callId' in event && event.callId === callId);
    expect(about.map(({ type }) => type)).toEqual([
      ...['action.called', 'approval.requested', 'approval.decided', 'action.result'],
    ]);
  },

  async 'the metadata is the same for every agent'({ row, task }: Scenery) {
    const { attempt, turn } = await task();
    const metadata = deriveAgentMetadata(turn.events, turn.facts);
    expect(turn.status).toBe('completed');
    expect(metadata).toMatchObject({ runtime: row.runtime });
    // Who makes the sandbox says what it enforces: no agent does.
    expect([metadata.network, metadata.sandbox]).toEqual([undefined, undefined]);
    if (row.own) expect(metadata.own).toEqual(row.own);
    if (row.keyVariable) expect(metadata.workingDir).toBe(attempt.context.sandbox?.workdir);
    expect(metadata.tools).toHaveLength(1);
    expect(metadata.commands).toHaveLength(1);
    expect(metadata.commands[0]?.command).toMatch(/CONTRACT_SECRET|fake-agent/);
    const { id } = attempt.context.session;
    if (id !== undefined) expect([id, undefined]).toContain(metadata.sessionId);
  },

  async 'events are emitted as they are returned, each with time and source'({ task }: Scenery) {
    const { attempt, turn } = await task();
    expect(turn.events.length).toBeGreaterThan(1);
    // The attempt may already have had a second turn.
    expect(attempt.emitted.slice(0, turn.events.length)).toEqual(turn.events);
    for (const { at, source } of turn.events) {
      expect(at).toMatch(/^\d{4}-\d\d-\d\dT/);
      expect(['agent', 'host', 'gateway']).toContain(source);
    }
  },

  async 'a secret in the output of a tool is masked in everything that is stored'({ task }: Scenery) {
    const { kept, token, turn } = await task();
    const text = await kept();
    expect(text).not.toContain(teamSecret);
    expect(text).toContain(`${token} [masked]`);
    expect(JSON.stringify(turn)).not.toContain(teamSecret);
  },

  async 'malformed output does not affect the output around it'({ garbled }: Scenery) {
    const { turn, reply, token, kept } = await garbled();
    expect(turn.status).toBe('completed');
    expect(reply).toContain(`Done ${token}`);
    const text = await kept();
    for (const line of ['no JSON at all', 'cut off']) expect(text).toContain(line);
  },

  async 'output that is not UTF-8 is kept, and characters stay whole'({ garbled }: Scenery) {
    const { attempt, kept } = await garbled();
    const bytes = await attempt.sandbox.readBytes(attempt.context.files.stdoutFile);
    expect(bytes.includes(Buffer.from([0xff, 0xfe, 0x80]))).toBe(true);
    expect(await kept()).toContain('naïve');
  },

  async '200 MB of output are not kept in memory'({ row }: Scenery) {
    const program = join(import.meta.dirname, 'flood-program.ts');
    // An adapter that kept all of the output would run out of this heap. With a small young generation, less is copied.
    const heap = ['--max-old-space-size=192', '--max-semi-space-size=1'];
    const { stdout } = await run(process.execPath, [...heap, program, row.name]);
    const flood: Flood = JSON.parse(stdout);
    expect(flood).toMatchObject({ status: 'completed', saidLastOrSaysNot: true });
    expect(flood.keptMegabytes).toBeLessThan(70);
    expect(flood.grownMegabytes).toBeLessThan(300);
  },

  async 'parallel sessions stay separate, and a crash in one does not affect the others'({ atOnce }: Scenery) {
    const plays = await atOnce();
    expect(plays.map(({ turn }) => turn.status)).toEqual(['completed', 'failed', 'completed']);
    for (const { attempt, token, kept } of plays) {
      const others = plays.filter((play) => play.token !== token);
      const text = await kept();
      for (const other of others) {
        expect(text).not.toContain(other.token);
        expect(text).not.toContain(other.attempt.workdir);
        expect(existsSync(join(attempt.workdir, `seen-${other.token}.json`))).toBe(false);
      }
    }
    const sessions = plays.map(({ attempt }) => attempt.context.session.id).filter((id) => id !== undefined);
    expect(new Set(sessions).size).toBe(sessions.length);
  },
};

const sessionIn = ({ events, facts }: Turn) => deriveAgentMetadata(events, facts).sessionId;

export type CaseName = keyof typeof cases;

/** Waits until the agent hangs, for at most 30 s. */
async function whenHanging(attempt: TestAttempt, token: string): Promise<void> {
  const deadline = Date.now() + 30_000;
  while (!isHanging(attempt, token) && Date.now() < deadline) await pause(20);
}

const isHanging = (attempt: TestAttempt, token: string): boolean =>
  existsSync(join(attempt.workdir, `hanging-${token}`));

async function expectTreeGone(attempt: TestAttempt, token: string): Promise<void> {
  const marker = await attempt.sandbox.readFile(`hanging-${token}`);
  expect(marker).toContain(attempt.workdir);
  expect((await commandLines()).filter((line) => line.includes(marker))).toEqual([]);
}
