import { afterAll, beforeAll, expect, test } from 'vitest';
import { type AtOnce, type CaseName, CRASH, canCrash, cases, failureOf } from './cases.ts';
import type { ContractRow } from './contract-row.ts';
import { notApplicable } from './not-applicable.ts';
import { once, openStage, type Stage } from './stage.ts';

/** Runs these cases on a row. A case listed as not applicable must fail; if it passes, it does not belong on the list. */
export function holdToContract(row: ContractRow, names: readonly CaseName[]): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(row);
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  const atOnce = once(async (): Promise<AtOnce> => {
    const agent = await row.create({
      user: stage.user,
      env: {
        CONTRACT_SECRET: `\${TEAM_SECRET}`,
        OWN_OR_LANE: 'own',
        XDG_STATE_HOME: '/nowhere/state',
      },
      inherit: ['.team/login.json', '.team/keys'],
    });
    const context = { model: `${row.provider ?? ''}model-of-the-turn` };
    return Promise.all([
      stage.play('task', { agent }),
      stage.play(canCrash(row) ? CRASH : 'failure', { agent }),
      stage.play('task', { agent, context }),
    ]);
  });
  const task = async () => (await atOnce())[0];
  const garbled = once(() =>
    stage.play('garbled output', { model: 'model-of-the-config', context: { model: 'model-of-the-turn' } }),
  );

  for (const name of names) {
    const hold = () => cases[name]({ row, stage, task, atOnce, garbled });
    const reason = notApplicable[row.name]?.[name];
    if (reason === undefined) test(name, hold);
    else {
      test(`${name}: does not apply (${reason})`, async () => {
        const failure = await failureOf(hold());
        expect(failure, `It applies: remove it from ${row.name} in not-applicable.ts.`).toBeInstanceOf(Error);
      });
    }
  }
}

