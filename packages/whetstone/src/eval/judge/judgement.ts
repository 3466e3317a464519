import type { StreamEvent } from '@whetstone/agents';

/** What is judged, part by part: messages to the agent, its events, or a value that the eval gives. Plain JSON. */
export type JudgedPart = { user: string } | { event: StreamEvent; index: number } | { given: string };

/** A question to the judge. */
export type JudgeRequest = {
  /** At least one. Each is met or not. */
  criteria: string[];
  material: JudgedPart[];
  /** Default: as the configuration of the judge says. */
  votes?: number;
  /** Default: the model, if the configuration has one. */
  by?: 'model' | 'agent';
};

/** What the votes of a judge decide. `unavailable`: nobody knows, and the case is an error unless that is optional. */
export type Judgement = {
  status: 'passed' | 'failed' | 'unavailable';
  /** One sentence. */
  message: string;
  /** Share of all votes asked for that say "met", averaged over the criteria. */
  score?: number;
  /** Indices of the events that the judge quotes. */
  events: number[];
  /** Each vote with its reasons and quotes, for a reader. */
  text: string;
};

/** What one vote says about one criterion. */
export type CriterionVote = {
  met: 'yes' | 'no' | 'unclear';
  reason: string;
  quotes: string[];
  /** Indices of the events that the quotes are from. */
  events: number[];
};

/** A vote that counts, or why it does not. */
export type Vote = { criteria: CriterionVote[]; manipulation: string } | { problem: string };
