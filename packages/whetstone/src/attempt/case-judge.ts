import { messageOf } from '@whetstone/errors';
import { present } from '@whetstone/events/present';
import type { Lane } from '@whetstone/gateway';
import type { Mask } from '@whetstone/sandbox';
import type { JudgeLane } from '../config/config.ts';
import { plural } from '../eval/expect/show.ts';
import { countVotes } from '../eval/judge/count-votes.ts';
import { judgePrompt } from '../eval/judge/judge-prompt.ts';
import type { Judgement, JudgeRequest, Vote } from '../eval/judge/judgement.ts';
import { type Material, materialOf } from '../eval/judge/material.ts';
import { readVote } from '../eval/judge/read-vote.ts';
import { isSameModel } from '../eval/judge/same-model.ts';
import { readUserReply, type UserReply, type UserRequest, userPrompt } from '../eval/judge/user-prompt.ts';
import { hashJson } from '../plan/hash-json.ts';
import type { PlannedCase } from '../plan/plan.ts';
import { type JudgeRoom, openJudgeAgent } from './ask-judge-agent.ts';
import { type Judge, openJudgeModel } from './ask-judge-model.ts';
import type { JudgeCalls, JudgeKind, LabJudge } from './lab.ts';
import { maskValues } from './mask-values.ts';

/** The judge of one case. Its lane opens with its first question. */
export type CaseJudge = AsyncDisposable & {
  /** `key`: that of the question. Default: it is counted among those of this judge, as for `user`. */
  judge(request: JudgeRequest, key?: string): Promise<Judgement>;
  /** For scorers that call a model themselves. Rejects without a judge. */
  judgeLane(): Promise<JudgeLane & { model: string | undefined }>;
  /** Lets its model play a user. Rejects where that cannot be done. */
  user(request: UserRequest, key?: string): Promise<UserReply>;
  /** Its model calls so far, of each lane that was opened. */
  readonly calls: readonly JudgeCalls[];
};

/** What a judge has to know of its case. */
export type JudgedCase = {
  planned: Pick<PlannedCase, 'id'>;
  /** The models that the agent has asked so far, and those that answered. */
  models: () => readonly string[];
  mask: Mask;
  signal: AbortSignal;
  /** Where an agent can judge. Default: only a model can. */
  room?: JudgeRoom;
  /** What to say where there is no judge. Default: that none is configured. */
  withoutJudge?: string;
  /** Where its model calls are kept. Default: nowhere. */
  ledgerFile?: string;
  /** Called with each answer, masked, under the key of its question. */
  onAnswer(kept: KeptAnswer): void;
};

/** A line of `judgements.jsonl`: `rescore` finds the answer to the same question there. */
export type KeptAnswer = {
  key: string;
  /** The fingerprint of the judge that gave the answer. Absent: nobody was asked, or an older version wrote it. */
  judge?: string;
} & ({ judgement: Judgement } | { reply: UserReply });

/** `asked`: absent in a lane for scorers only, and for an agent outside of a run. */
type OpenLane = { lane: Lane; asked?: Judge };

export function openCaseJudge(judged: JudgedCase, judge: LabJudge | undefined): CaseJudge {
  const { planned, mask, signal, ledgerFile, onAnswer, room, withoutJudge = NO_JUDGE } = judged;
  const keys = questionKeys();
  const by = judge && { judge: judge.fingerprint };
  const opening: Partial<Record<JudgeKind, Promise<OpenLane>>> = {};
  const opened: { by: JudgeKind; lane: Lane }[] = [];
  const open = async (by: JudgeKind, { config, gateway, agent }: LabJudge): Promise<OpenLane> => {
    const lane = await gateway.server.open({
      owner: `judge of ${planned.id}`,
      ...present({ ledgerFile }),
      mask: mask.text,
      ...(await gateway.laneOf(planned, by)),
    });
    opened.push({ by, lane });
    if (by === 'agent')
      return { lane, ...(agent && room && { asked: openJudgeAgent(agent, { lane, gateway }, room) }) };
    return { lane, ...(config.model && { asked: await openJudgeModel(config.model, lane) }) };
  };
  const laneOf = (kind: JudgeKind, labJudge: LabJudge): Promise<OpenLane> => {
    opening[kind] ??= open(kind, labJudge);
    return opening[kind];
  };

  async function decide(request: JudgeRequest, material: Material): Promise<Judgement> {
    if (!judge) {
      return notJudged(withoutJudge);
    }
    const kind = request.by ?? (judge.config.model === undefined ? 'agent' : 'model');
    if (!judge.config[kind]) return notJudged(`the judge has no \`${kind}\``);
    const { lane, asked } = await laneOf(kind, judge);
    if (!asked) return notJudged('an agent only judges during a run');
    if (kind === 'model') refuseOwn([asked.name], judge, judged);
    const { criteria } = request;
    const count = request.votes ?? judge.config.votes;
    const before = lane.ledger.length;
    const votes = Array.from({ length: count }, async (_, index): Promise<Vote> => {
      const prompt = judgePrompt(criteria, material, { number: index + 1, of: count });
      return readVote(await asked.ask(prompt, signal), criteria, material);
    });
    const settled = await Promise.all(
      votes.map((vote) => vote.catch((error: unknown) => ({ problem: whyNot(error, lane, before) }))),
    );
    // Which model an agent uses is only known from what answered.
    const answered = kind === 'agent' ? lane.ledger.flatMap((call) => call.model_answered ?? []) : [];
    refuseOwn(answered, judge, judged);
    return withOmissions(countVotes(criteria, settled, asked.name), material);
  }

  return {
    get calls() {
      // An agent may call its model past the gateway.
      return opened.map(({ by: kind, lane: { ledger } }) => ({
        ...{ ledger, isMetered: kind === 'model' || ledger.length > 0 },
      }));
    },
    async judge(request, given) {
      const asked = maskValues(request, mask);
      const material = materialOf(asked.material);
      const key = given ?? keys.judge(asked, material);
      const judgement = await decide(asked, material).catch((error: unknown) => notJudged(messageOf(error)));
      onAnswer({ key, ...by, judgement: maskValues(judgement, mask) });
      return judgement;
    },
    async judgeLane() {
      if (!judge) throw new Error(withoutJudge);
      const { lane, asked } = await laneOf('model', judge);
      const { baseUrl, key } = lane;
      return { baseUrl, key, model: asked?.name.replace(/^[^/]+\//, '') };
    },
    async user(request, given) {
      if (!judge) throw new Error(`the user has nobody who plays it: ${withoutJudge}`);
      const question = maskValues(request, mask);
      const key = given ?? keys.user(question);
      const { lane, asked } = await laneOf('model', judge);
      if (!asked) throw new Error('the judge has no `model`, which plays the user');
      const before = lane.ledger.length;
      const answer = await asked.ask(userPrompt(question), signal).catch((error: unknown) => {
        throw new Error(`the simulated user: ${whyNot(error, lane, before)}`);
      });
      const reply = readUserReply(answer);
      onAnswer({ key, ...by, reply: maskValues(reply, mask) });
      return reply;
    },
    async [Symbol.asyncDispose]() {
      await Promise.allSettled(Object.values(opening));
      for (const { lane } of opened) await lane.close();
    },
  };
}

export type QuestionKeys = {
  /** Of a question to the judge. */
  judge(request: JudgeRequest, material: Material): string;
  /** Of a question to a simulated user. */
  user(request: UserRequest): string;
};

/** The same question has the same key; the second time in a case another one, because its answer may be another. */
export function questionKeys(): QuestionKeys {
  const times = new Map<string, number>();
  const keyOf = (question: object): string => {
    const key = hashJson(question);
    const before = times.get(key) ?? 0;
    times.set(key, before + 1);
    return before === 0 ? key : hashJson({ ...question, before });
  };
  return {
    judge: ({ material: _, ...request }, { lines }) => keyOf({ ...request, material: lines }),
    user: keyOf,
  };
}

const NO_JUDGE = 'no judge is configured: set `judge` in the experiment or in whetstone.config.ts';

/** `before`: how many calls the lane had seen before the question. */
const whyNot = (error: unknown, { ledger }: Lane, before: number): string =>
  ledger.slice(before).some(({ flags }) => flags.includes('over-budget'))
    ? 'the budget of the judge is used up'
    : `the judge did not answer: ${messageOf(error)}`;

const notJudged = (message: string): Judgement => ({ status: 'unavailable', message, events: [], text: '' });

/** What the judge did not see could have shown that a criterion is not met. */
function withOmissions({ score, ...judgement }: Judgement, { leftOut, cutOut }: Material): Judgement {
  if (leftOut + cutOut === 0) return { ...judgement, ...present({ score }) };
  const unseen = [
    ...(leftOut > 0 ? [plural(leftOut, 'event')] : []),
    ...(cutOut > 0 ? [plural(cutOut, 'character')] : []),
  ];
  const message = `${judgement.message} (the judge did not see ${unseen.join(' and ')})`;
  if (judgement.status !== 'passed') return { ...judgement, ...present({ score }), message };
  return { ...judgement, status: 'unavailable', message };
}

/** The models that answered the agent are only known now. */
function refuseOwn(names: readonly string[], { config }: LabJudge, { models }: JudgedCase): void {
  const own = names.find((name) => models().some((one) => isSameModel(one, name)));
  if (config.sameAsAgent || own === undefined) return;
  throw new Error(
    `the judge ${own} is the model of the agent that it would judge; \`same_as_agent\` allows it`,
  );
}
