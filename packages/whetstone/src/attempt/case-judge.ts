import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Lane } from '@whetstone/gateway';
import type { Mask } from '@whetstone/sandbox';
import { countVotes } from '../eval/judge/count-votes.ts';
import { judgePrompt } from '../eval/judge/judge-prompt.ts';
import type { Judgement, JudgeRequest, Vote } from '../eval/judge/judgement.ts';
import { type Material, materialOf } from '../eval/judge/material.ts';
import { readVote } from '../eval/judge/read-vote.ts';
import { isSameModel } from '../eval/judge/same-model.ts';
import { hashJson } from '../plan/hash-json.ts';
import type { PlannedCase } from '../plan/plan.ts';
import { type JudgeModel, openJudgeModel } from './ask-judge-model.ts';
import type { LabJudge } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** The judge of one case. Its lane opens with its first question. */
export type CaseJudge = AsyncDisposable & {
  judge(request: JudgeRequest): Promise<Judgement>;
  /** The calls of its model, as they come. `undefined`: it was not asked. */
  readonly calls: Lane['ledger'] | undefined;
};

/** What a judge has to know of its case. */
export type JudgedCase = {
  planned: Pick<PlannedCase, 'id'>;
  /** The models that the agent has asked so far, and those that answered. */
  models: () => readonly string[];
  mask: Mask;
  signal: AbortSignal;
  /** Where its model calls are kept. Default: nowhere. */
  ledgerFile?: string;
  /** Called with each judgement, masked, under the key of its question. */
  onJudgement(kept: KeptJudgement): void;
};

/** A line of `judgements.jsonl`: `rescore` finds the answer to the same question there. */
export type KeptJudgement = { key: string; judgement: Judgement };

export function openCaseJudge(judged: JudgedCase, judge: LabJudge | undefined): CaseJudge {
  const { planned, mask, signal, ledgerFile, onJudgement } = judged;
  let opening: ReturnType<typeof open> | undefined;
  let calls: Lane['ledger'] | undefined;
  const open = async ({ config, gateway }: LabJudge) => {
    const lane = await gateway.server.open({
      owner: `judge of ${planned.id}`,
      ...present({ ledgerFile }),
      ...(await gateway.laneOf(planned, {})),
    });
    calls = lane.ledger;
    return { lane, ...(config.model && { model: await openJudgeModel(config.model, lane) }) };
  };

  async function decide(request: JudgeRequest): Promise<Judgement> {
    if (!judge) {
      return notJudged('no judge is configured: set `judge` in the experiment or in whetstone.config.ts');
    }
    opening ??= open(judge);
    const { lane, model } = await opening;
    if (!model) return notJudged('the judge has no `model`');
    refuseOwn(model, judge, judged);
    const { criteria } = request;
    const material = materialOf(request.material);
    const count = request.votes ?? judge.config.votes;
    const votes = Array.from({ length: count }, async (_, index): Promise<Vote> => {
      const prompt = judgePrompt(criteria, material, { number: index + 1, of: count });
      return readVote(await model.ask(prompt, signal), criteria, material);
    });
    const settled = await Promise.all(
      votes.map((vote) => vote.catch((error: unknown) => ({ problem: whyNot(error, lane) }))),
    );
    return withOmissions(countVotes(criteria, settled, model.name), material);
  }

  return {
    get calls() {
      return calls;
    },
    async judge(request) {
      const asked = maskValues(request, mask);
      const judgement = await decide(asked).catch((error: unknown) => notJudged(messageOf(error)));
      onJudgement({ key: requestKey(asked), judgement: maskValues(judgement, mask) });
      return judgement;
    },
    async [Symbol.asyncDispose]() {
      const opened = await opening?.catch(() => undefined);
      await opened?.lane.close();
    },
  };
}

/** The same question about the same material has the same key. */
export const requestKey = ({ material, ...request }: JudgeRequest): string =>
  hashJson({ ...request, material: materialOf(material).lines });

const whyNot = (error: unknown, { ledger }: Lane): string =>
  ledger.some(({ flags }) => flags.includes('over-budget'))
    ? 'the budget of the judge is used up'
    : `the judge did not answer: ${messageOf(error)}`;

const notJudged = (message: string): Judgement => ({ status: 'unavailable', message, events: [], text: '' });

const withOmissions = (judgement: Judgement, { leftOut }: Material): Judgement =>
  leftOut === 0
    ? judgement
    : { ...judgement, message: `${judgement.message} (${leftOut} events were too many for it to see)` };

/** The models that answered the agent are only known now. */
function refuseOwn({ name }: JudgeModel, { config }: LabJudge, { models }: JudgedCase): void {
  if (config.sameAsAgent || !models().some((one) => isSameModel(one, name))) return;
  throw new Error(
    `the judge ${name} is the model of the agent that it would judge; \`same_as_agent\` allows it`,
  );
}
