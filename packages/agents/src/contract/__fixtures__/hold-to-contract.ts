import { afterAll, beforeAll, test } from 'vitest';
import { type CaseName, cases } from './cases.ts';
import type { ContractRow } from './contract-row.ts';
import { openStage, type Play, type Stage } from './stage.ts';

/** Runs these cases on a row. A case that the row skips is skipped with its reason. */
export function holdToContract(row: ContractRow, names: readonly CaseName[]): void {
  let stage: Stage;
  beforeAll(async () => {
    stage = await openStage(row);
  });
  afterAll(() => stage[Symbol.asyncDispose]());
  const task = once(() =>
    stage.play('task', {
      env: {
        CONTRACT_SECRET: `\${TEAM_SECRET}`,
        OWN_OR_LANE: 'own',
        XDG_STATE_HOME: '/nowhere/state',
      },
      inherit: ['.team/login.json', '.team/keys'],
    }),
  );
  const garbled = once(() => stage.play('garbled output'));

  for (const name of names) {
    const reason = row.skips[name];
    const hold = cases[name];
    if (reason !== undefined) test.skip(`${name} (${reason})`);
    else test(name, () => hold({ row, stage, task, garbled }));
  }
}

function once(play: () => Promise<Play>): () => Promise<Play> {
  let played: Promise<Play> | undefined;
  return () => {
    played ??= play();
    return played;
  };
}
