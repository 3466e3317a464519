import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test, vi } from 'vitest';
import { makeTempDir } from '../../workspace/__fixtures__/test-repo.ts';
import { type MaskedProject, openMaskedRoom } from '../__fixtures__/masked-room.ts';
import type { MaskSlot } from './exchange-twins.ts';

const ADDS = Array.from(
  { length: 6 },
  (_, one) => `test('adds ${one}', () => equal(add(${one}, 1), ${one + 1}));`,
);
const PROJECT: MaskedProject = {
  runner: 'node-test',
  files: { 'package.json': '{"type":"module"}\n', 'add.js': 'export const add = (a, b) => a - b;\n' },
  solution: { 'add.js': 'export const add = (a, b) => a + b;\n' },
  hidden: {
    'test/add.test.js': `import { equal } from 'node:assert/strict';\nimport { test } from 'node:test';\nimport { add } from '../add.js';\n${ADDS.join('\n')}\n`,
  },
};

const plan = async () => {
  await using room = await openMaskedRoom(PROJECT);
  if (!('plan' in room.masking)) throw new Error(room.masking.why);
  return room.masking.plan.slots;
};

test('a kept calibration that says what the tests do not is not used', { timeout: 120_000 }, async () => {
  const cache = makeTempDir();
  vi.stubEnv('XDG_CACHE_HOME', cache);
  const slots = await plan();
  expect(slots).toHaveLength(6);
  const [name = ''] = readdirSync(cache, { recursive: true, encoding: 'utf8' }).filter((one) =>
    one.endsWith('.json'),
  );
  const file = join(cache, name);
  const written = readFileSync(file, 'utf8');
  const forged: ((slot: MaskSlot) => MaskSlot)[] = [
    (slot) => ({ ...slot, twin: { ...slot.twin, same: slot.twin.instead } }),
    (slot) => ({ ...slot, twin: { ...slot.twin, from: 0, same: 'test.skip' } }),
    (slot) => ({ ...slot, ids: [], free: slot.ids }),
  ];
  for (const forge of forged) {
    const kept = JSON.parse(written);
    writeFileSync(file, JSON.stringify({ ...kept, slots: kept.slots.map(forge) }));
    expect(await plan()).toEqual(slots);
    expect(JSON.parse(readFileSync(file, 'utf8'))).toEqual(JSON.parse(written));
  }
  rmSync(cache, { recursive: true });
});
