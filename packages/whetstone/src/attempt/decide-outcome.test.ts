import type { Turn } from '@whetstone/agents';
import type { LedgerLine } from '@whetstone/gateway';
import { describe, expect, test } from 'vitest';
import type { GatewayMode } from '../config/config.ts';
import type { Verification } from '../verify/verify.ts';
import { decideOutcome } from './decide-outcome.ts';

const completed: Turn = { events: [], status: 'completed', exit: { ended: 'exit', exitCode: 0 } };
const failedTurn: Turn = { events: [], status: 'failed', exit: { ended: 'exit', exitCode: 1 } };
const verified: Verification = {
  validation: 'passed',
  commands: [],
  hard: [],
  hardStatus: 'not_configured',
  protectedTouched: [],
};
const call = (status: number) =>
  ({ status, flags: [], faults: [], outcome: status < 400 ? 'ok' : 'error' }) as unknown as LedgerLine;

const decide = (
  turn: Turn,
  verification: Verification = verified,
  calls: LedgerLine[] = [],
  gatewayMode: GatewayMode['mode'] = 'forward',
) => decideOutcome({ turn, verification, calls, gatewayMode });

describe('an outcome', () => {
  test('is passed when the agent completed and the clean room agrees', () => {
    expect(decide(completed)).toEqual({ status: 'passed' });
  });

  test('is a failure of the agent when the clean room disagrees, whatever the agent says', () => {
    const verification = { ...verified, validation: 'failed' as const, failure: '`npm test` exited 1' };
    expect(decide(completed, verification)).toEqual({
      status: 'failed',
      class: 'agent',
      evidence: '`npm test` exited 1',
    });
  });

  test('is not passed when the agent failed, even when validation passes', () => {
    expect(decide(failedTurn)).toMatchObject({ status: 'failed', class: 'agent' });
  });

  test('names the turn that did not complete when there are several', () => {
    const turns = { sent: 2, planned: 3 };
    const evidence = { verification: verified, calls: [], gatewayMode: 'forward' as const };
    const of = (turn: Turn) => decideOutcome({ ...evidence, turn, turns });
    expect(of(failedTurn)).toMatchObject({ evidence: 'turn 2 of 3: the agent did not complete (exit 1)' });
    expect(decideOutcome({ ...evidence, turn: failedTurn, turns, calls: [call(429)] })).toMatchObject({
      class: 'provider-limit',
      evidence: 'turn 2 of 3: the provider answered 429',
    });
    expect(decideOutcome({ ...evidence, turn: failedTurn, turns: { sent: 1, planned: 1 } })).toMatchObject({
      evidence: 'the agent did not complete (exit 1)',
    });
    expect(of(completed)).toEqual({ status: 'passed' });
  });

  test.each([
    ['The agent ended with exit code 1.', ''],
    ['The tests ended with exit code 137.', ' (exit 1)'],
  ])('names the exit code unless the message does: %s', (message, exit) => {
    const exited = { ended: 'exit', exitCode: 1, message } as const;
    expect(decide({ ...failedTurn, exit: exited })).toMatchObject({
      evidence: `the agent did not complete${exit}: ${message}`,
    });
  });

  test('says that an agent waits, and for which answer', () => {
    const request = { prompt: 'May I delete src?' };
    const events: Turn['events'] = [{ type: 'input.requested', request }];
    expect(decide({ ...completed, status: 'waiting', events })).toEqual({
      status: 'failed',
      class: 'agent',
      evidence: 'the agent waits for an answer that no run gives: May I delete src?',
    });
    expect(decide({ ...completed, status: 'waiting' })).toMatchObject({
      evidence: 'the agent waits for an answer that no run gives',
    });
  });

  test('is an error of access when the gateway ended the retries of a refused call', () => {
    const refused = {
      ...call(400),
      flags: ['access-refused'],
      error: 'It answered 401.',
    } as unknown as LedgerLine;
    expect(decide(failedTurn, verified, [call(401), call(401), refused])).toMatchObject({
      status: 'error',
      class: 'harness',
      evidence: 'It answered 401: check the key or the login, and its rights',
    });
  });

  test.each([
    ['limit', 'provider-limit'],
    ['outage', 'provider-outage'],
  ])(
    'is missing data when the last answer began with 200 and then named a failure (%s)',
    (kind, failureClass) => {
      const cut = {
        ...call(200),
        ...{ flags: [`${kind}-in-answer`], error: 'The provider failed in its answer: Overloaded' },
      } as unknown as LedgerLine;
      expect(decide(failedTurn, verified, [call(200), cut])).toMatchObject({
        ...{ status: 'error', class: failureClass },
        evidence: 'The provider failed in its answer: Overloaded',
      });
      expect(decide(failedTurn, verified, [cut, call(200)])).toMatchObject({ class: 'agent' });
    },
  );

  test('is a timeout when the agent was stopped at its time limit', () => {
    const turn: Turn = { events: [], status: 'failed', exit: { ended: 'timeout' } };
    expect(decide(turn)).toMatchObject({ status: 'failed', class: 'timeout' });
  });

  test.each([
    [429, 'provider-limit'],
    [500, 'provider-outage'],
    [529, 'provider-outage'],
    [401, 'harness'],
  ])('is missing data when the last answer of the provider was %i', (status, failureClass) => {
    expect(decide(failedTurn, verified, [call(200), call(status)])).toMatchObject({
      status: 'error',
      class: failureClass,
    });
  });

  test('a provider error that the agent recovered from does not count', () => {
    expect(decide(completed, verified, [call(500), call(200)])).toEqual({ status: 'passed' });
    expect(decide(failedTurn, verified, [call(500), call(200)])).toMatchObject({ class: 'agent' });
  });

  test('a script that cannot be played is a harness error', () => {
    expect(decide(failedTurn, verified, [call(400)], 'script')).toMatchObject({
      status: 'error',
      class: 'harness',
    });
  });

  test('a recording without an answer is a harness error; a recorded refusal is the provider’s', () => {
    const missed = call(400);
    const recorded = { ...call(429), flags: ['replayed'] } as LedgerLine;
    expect(decide(failedTurn, verified, [missed], 'replay')).toMatchObject({ class: 'harness' });
    expect(decide(failedTurn, verified, [recorded], 'replay')).toMatchObject({ class: 'provider-limit' });
  });

  test('an injected fault counts as the error that it plays, even in a script', () => {
    const faulted = { ...call(529), faults: ['status'] } as LedgerLine;
    expect(decide(failedTurn, verified, [faulted], 'script')).toMatchObject({ class: 'provider-outage' });
  });

  test('has the class budget when a call was refused over budget and the work is not good enough', () => {
    const refused = { ...call(400), flags: ['over-budget'], error: 'used up (cost)' } as LedgerLine;
    const verification = { ...verified, validation: 'failed' as const, failure: '`npm test` exited 1' };
    const outcome = { status: 'failed', class: 'budget', evidence: 'used up (cost)' };
    expect(decide(failedTurn, verified, [call(200), refused])).toEqual(outcome);
    expect(decide(completed, verification, [refused], 'script')).toEqual(outcome);
    expect(decide(completed, verified, [refused])).toEqual({ status: 'passed' });
  });

  test('is missing when the budget that all cases share is used up', () => {
    const refused = { ...call(400), flags: ['over-budget', 'shared-budget'] } as LedgerLine;
    const evidence = 'the budget of the run is used up: raise `run_budget` and resume the run';
    expect(decide(failedTurn, verified, [call(200), refused])).toEqual({
      ...{ status: 'error', class: 'harness', evidence },
    });
    expect(decide(completed, verified, [refused])).toEqual({ status: 'passed' });
  });

  test('is a harness error when nobody knows what is left of a budget in dollars', () => {
    const usage = { inputTokens: 1, outputTokens: 1 };
    const unpriced = { ...call(200), usage, cost_usd: null, model_answered: 'new-model' } as LedgerLine;
    const refused = { ...call(400), flags: ['over-budget', 'price-unknown'] } as LedgerLine;
    expect(decide(failedTurn, verified, [unpriced, refused])).toEqual({
      status: 'error',
      class: 'harness',
      evidence: expect.stringContaining('the price of new-model is unknown: use tokens'),
    });
  });

  test('is a harness error when the agent’s program is missing', () => {
    const turn: Turn = {
      events: [],
      status: 'failed',
      exit: { ended: 'exit', exitCode: 127, notStarted: true },
    };
    expect(decide(turn)).toMatchObject({ status: 'error', class: 'harness' });
  });

  test.each([126, 127])('is the agent’s failure when its program exits with %i but exists', (exitCode) => {
    const turn: Turn = { events: [], status: 'failed', exit: { ended: 'exit', exitCode } };
    expect(decide(turn)).toMatchObject({ status: 'failed', class: 'agent' });
  });

  test('is a verifier error when a validation command is missing', () => {
    const verification: Verification = {
      ...verified,
      validation: 'failed',
      broken: { class: 'verifier', evidence: 'not found' },
      failure: 'exited 127',
    };
    expect(decide(completed, verification)).toMatchObject({ status: 'error', class: 'verifier' });
  });
});
