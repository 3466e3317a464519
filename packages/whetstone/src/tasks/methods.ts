/** How tasks are made: a commit is done again, its sources are taken back from HEAD, or code is taken out of HEAD. */
export const METHODS = ['replay', 'revert', 'remove'] as const;
export type Method = (typeof METHODS)[number];
