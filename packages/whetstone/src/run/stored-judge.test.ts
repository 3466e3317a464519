import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createMask } from '@whetstone/sandbox/mask';
import { expect, onTestFinished, test } from 'vitest';
import { type KeptAnswer, questionKeys } from '../attempt/case-judge.ts';
import type { Judgement, JudgeRequest } from '../eval/judge/judgement.ts';
import { materialOf } from '../eval/judge/material.ts';
import { caseLayout } from '../record/layout.ts';
import { sampleManifest, sampleRow } from '../report/__fixtures__/sample-run.ts';
import type { LaterJudge } from './open-judge-gateway.ts';
import { openStoredJudge } from './stored-judge.ts';

const question = { criteria: ['Is polite'], material: [{ given: 'Hello Ada' }] };
const judgement = (status: Judgement['status']): Judgement => ({
  ...{ status, message: `it ${status}`, events: [], text: '' },
});

/** The keys of questions that are asked one after the other. */
function keysInOrder() {
  const keys = questionKeys();
  return (request: JudgeRequest) => keys.judge(request, materialOf(request.material));
}

/** A stored case with these lines in `judgements.jsonl`. */
async function open(kept: KeptAnswer[], judge?: LaterJudge) {
  const folder = mkdtempSync(join(tmpdir(), 'stored-judge-'));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const files = caseLayout(folder);
  writeFileSync(files.judgements, kept.map((one) => `${JSON.stringify(one)}\n`).join(''));
  const [planned] = sampleManifest().case_matrix;
  const row = sampleRow(planned ?? expect.fail(), 'passed');
  return openStoredJudge(row, files, { judge, mask: createMask([]) });
}

test('the same question asked twice has the answers of then, in their order', async () => {
  const keyOf = keysInOrder();
  const asked = (status: Judgement['status']) => ({
    key: keyOf(question),
    judgement: judgement(status),
  });
  await using judge = await open([asked('failed'), asked('passed')]);
  const answers = [await judge.judge(question), await judge.judge(question), await judge.judge(question)];
  expect(answers.map(({ status }) => status)).toEqual(['failed', 'passed', 'unavailable']);
  expect(answers[2]?.message).toContain('no stored answer fits this question');
});

test('a judge is only opened for what another one than the configured judge answered', async () => {
  const keyOf = keysInOrder();
  const agent = { ...question, by: 'agent' as const };
  const kept = [
    { key: keyOf(question), judge: 'now', judgement: judgement('passed') },
    { key: keyOf(agent), judge: 'then', judgement: judgement('passed') },
    { key: keyOf(question), judge: 'then', judgement: judgement('passed') },
  ];
  const configured: LaterJudge = {
    config: { model: 'anthropic/judge-1', votes: 1, sameAsAgent: false, file: '/config' },
    fingerprint: 'now',
    open: () => Promise.reject(new Error('its key is not there')),
    async [Symbol.asyncDispose]() {},
  };
  await using judge = await open(kept, configured);
  expect(await judge.judge(question)).toMatchObject({ status: 'passed' });
  expect(await judge.judge(agent)).toMatchObject({ status: 'passed' });
  expect(judge.ofAnotherJudge).toBe(1);
  await expect(judge.judge(question)).rejects.toThrow('its key is not there');
});
