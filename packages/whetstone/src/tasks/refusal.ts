/** Why a test cannot be relied on. */
export type ExclusionReason =
  | 'fails with the patch'
  | 'not collected without the patch'
  | 'flaky'
  | 'depends on the order of the tests'
  | 'depends on the date'
  | 'needs the network'
  | 'depends on its surroundings';
