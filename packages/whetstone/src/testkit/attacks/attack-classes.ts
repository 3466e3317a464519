/**
 * A class of attacks on a measurement, and what comes of it at each level of the sandbox. `scored 0`: the work counts as what it
 * is, whatever else the attack did. `blocked`: it cannot be done. `reachable`: it can. `limited`: it is stopped at a limit, and the
 * case has failed. `void`: the case has no result, and the run stops. `named`: row and report say that it happened.
 */
export type AttackClass = {
  what: string;
  /** Where commands only have a process tree and a home of their own. */
  open: string;
  /** In a sealed sandbox: for root, and for another user where that differs. */
  sealed: string;
  sealedUser?: string;
  /** The tests that play it, from the root of this repository. At least one. */
  tests: readonly string[];
};

const WHETSTONE = 'packages/whetstone/src';
const PROBES = 'packages/sandbox/src/probe/probe-sandbox.test.ts';
const VERDICTS = `${WHETSTONE}/verify/attacks.slow.test.ts`;
const CLEAN_ROOM = `${WHETSTONE}/verify/verify.test.ts`;
const MISSING = `${WHETSTONE}/attempt/missing-data.test.ts`;
const everywhere = (outcome: string) => ({ open: outcome, sealed: outcome });

/** In the order of the list of classes that Whetstone is built against. */
export const attackClasses: readonly AttackClass[] = [
  {
    what: 'links out of the workspace',
    ...{ open: 'scored 0; what a link leads to is **reachable**', sealed: 'scored 0, blocked' },
    tests: [CLEAN_ROOM, MISSING, PROBES],
  },
  {
    what: 'odd paths',
    ...everywhere('scored 0'),
    tests: [MISSING, `${WHETSTONE}/workspace/changes.test.ts`],
  },
  {
    what: 'archives that lead out, programs with their owner’s rights',
    ...everywhere('scored 0'),
    tests: [VERDICTS],
  },
  {
    what: 'memory and environment of other processes',
    ...{ open: '**reachable** for root', sealed: 'blocked' },
    tests: [PROBES],
  },
  {
    what: 'keys and files of the user',
    ...{ open: '**reachable**', sealed: 'blocked' },
    tests: [PROBES, `${WHETSTONE}/cli/run-sealed.test.ts`],
  },
  {
    what: 'sending data out',
    ...{ open: '**reachable**', sealed: 'blocked, but by the model and by hosts that are allowed' },
    tests: [PROBES, 'packages/sandbox/src/hosts/host-proxy.test.ts'],
  },
  { what: 'hooks, filters and settings of Git', ...everywhere('scored 0'), tests: [CLEAN_ROOM] },
  { what: 'hidden commits', ...everywhere('blocked: there is one commit'), tests: [CLEAN_ROOM] },
  {
    what: 'changes that Git does not show',
    ...everywhere('scored 0: files are compared by content'),
    tests: [CLEAN_ROOM, `${WHETSTONE}/workspace/changes.test.ts`],
  },
  {
    what: 'tests and what configures them',
    ...everywhere('scored 0'),
    tests: [
      VERDICTS,
      `${WHETSTONE}/verify/runner-settings.slow.test.ts`,
      `${WHETSTONE}/verify/rewritten-tests.slow.test.ts`,
    ],
  },
  {
    what: 'other programs and packages in place of the real ones',
    ...everywhere('scored 0; as a package that the work imports, only with masks'),
    tests: [VERDICTS, `${WHETSTONE}/environment/keep-runners.slow.test.ts`],
  },
  {
    what: 'false words and reports of success',
    ...everywhere('scored 0 with masks'),
    tests: [VERDICTS, `${WHETSTONE}/verify/hostile-report.test.ts`],
  },
  {
    what: 'the process of the tests',
    ...everywhere('scored 0 with masks, but for learnt answers'),
    tests: [
      VERDICTS,
      `${WHETSTONE}/verify/masks/masks.slow.test.ts`,
      `${WHETSTONE}/verify/masks/masks-in-sandboxes.slow.test.ts`,
    ],
  },
  {
    what: 'processes that outlive the agent',
    ...everywhere('scored 0: they are ended first'),
    tests: [CLEAN_ROOM, 'packages/sandbox/src/process/process-tree.test.ts'],
  },
  {
    what: 'orders in what an agent reads',
    ...everywhere('`audit agent` shows whether an agent obeys'),
    tests: [`${WHETSTONE}/cli/audit-agent.slow.test.ts`],
  },
  {
    what: 'MCP servers',
    ...{
      open: 'have the rights of the agent: **reachable**',
      sealed: 'have the rights of the agent: blocked',
    },
    tests: [PROBES, `${WHETSTONE}/cli/audit-agent.slow.test.ts`],
  },
  {
    what: 'words to a judge',
    ...everywhere('a vote without a true quote does not count'),
    tests: [`${WHETSTONE}/eval/judge/judge.test.ts`],
  },
  {
    what: 'memory, processes, disk',
    ...{ open: 'limited where control groups are', sealed: 'limited' },
    sealedUser: 'limited where control groups are; the disk is not',
    tests: [PROBES, 'packages/sandbox/src/limits.test.ts', MISSING],
  },
  {
    what: 'floods of output and files',
    ...everywhere('limited, never missing data'),
    tests: [MISSING, 'packages/sandbox/src/process/bounded-output.test.ts'],
  },
  {
    what: 'programs that do not end',
    ...everywhere('limited'),
    tests: ['packages/sandbox/src/process/process-tree.test.ts'],
  },
  {
    what: 'records of the run',
    ...{ open: '**reachable**; named, and forged lines do not count', sealed: 'blocked' },
    tests: [PROBES, `${WHETSTONE}/cli/unread-journal.test.ts`],
  },
  {
    what: 'finding the answer',
    ...{
      open: 'hidden tests on this machine are **reachable**; canaries are named',
      sealed: 'blocked on this machine; canaries are named',
    },
    tests: [PROBES, `${WHETSTONE}/verify/attacks.test.ts`],
  },
  {
    what: 'what one case leaves for the next',
    ...{ open: 'own folders; changed hidden tests and trees are void', sealed: 'blocked' },
    tests: [PROBES, `${WHETSTONE}/verify/attacks.test.ts`],
  },
  {
    what: 'spending the budget',
    ...everywhere('limited by the gateway'),
    tests: ['packages/gateway/src/budget.test.ts'],
  },
  {
    what: 'secrets in another encoding',
    ...everywhere('masked in what is kept'),
    tests: [`${WHETSTONE}/cli/run-redaction.test.ts`],
  },
  {
    what: 'tasks that are hostile themselves',
    ...everywhere('`tasks import` refuses some; read the others'),
    tests: [`${WHETSTONE}/cli/tasks-harbor.slow.test.ts`],
  },
];
