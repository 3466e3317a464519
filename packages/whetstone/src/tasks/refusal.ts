/** Why a test cannot be relied on. */
export type ExclusionReason =
  | 'fails with the patch'
  | 'not collected without the patch'
  | 'flaky'
  | 'depends on the order of the tests'
  | 'depends on the date'
  | 'needs the network'
  | 'depends on its surroundings';

/**
 * Why a draft is not a task. `isBroken`: its tests could not be tried at all. `mayLack`: not all went well with its sources
 * either, so the environment may lack something.
 */
export type Refusal = {
  refused: string;
  evidence?: string;
  isBroken?: boolean;
  mayLack?: boolean;
  seconds: number;
};
