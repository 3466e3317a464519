/** What an audit can play beside the solved and the unchanged tree. */
export const AUDIT_PARTS = ['cheats', 'mutants', 'refactors', 'flaky'] as const;
export type AuditPart = (typeof AUDIT_PARTS)[number];
