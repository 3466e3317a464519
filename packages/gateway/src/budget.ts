/**
 * What a lane, or all lanes of a gateway together, may use. After a limit is reached, the next call is refused. Calls
 * under way still finish, so parallel calls can exceed the limit.
 */
export type Budget = {
  /** US dollars. Needs `priceOf`; a call whose price is unknown counts as the end of the budget. */
  costUsd?: number;
  /** Tokens of all buckets. A call that is cut off before its usage arrives counts with an estimate. */
  tokens?: number;
  /** Model calls, including failed calls and retries. */
  calls?: number;
  /** Milliseconds since the lane or the gateway was opened. */
  wallMs?: number;
};

/** `price`: there is a budget for cost, and the cost of a call is unknown. */
export type BudgetLimit = keyof Budget | 'price';

type BudgetStart = { isShared?: boolean; used?: Partial<Spent> };

export type BudgetAccount = ReturnType<typeof openBudget>;

/** What is used of a budget. */
export type Spent = Required<Omit<Budget, 'wallMs'>>;

/**
 * What one budget allows, and what is used of it. `isShared`: it is that of all lanes together. `used`: what was used before.
 */
export function openBudget(budget: Budget = {}, { isShared = false, used = {} }: BudgetStart = {}) {
  const openedAt = performance.now();
  const spent: Spent = { costUsd: 0, tokens: 0, calls: 0, ...used };

  return {
    isShared,

    /** Whether cost or tokens are limited. */
    limitsSpending: budget.costUsd !== undefined || budget.tokens !== undefined,

    /** The limit that is used up, if any; `admitted`: for a call that is already counted. */
    exceeded(admitted = false): BudgetLimit | undefined {
      const used: Required<Budget> = { ...spent, wallMs: performance.now() - openedAt };
      const reached = limits.find((limit) => {
        if (admitted && limit === 'calls') return false;
        const most = budget[limit];
        return most !== undefined && used[limit] >= most;
      });
      return reached === 'costUsd' && spent.costUsd === Number.POSITIVE_INFINITY ? 'price' : reached;
    },

    admit(): void {
      spent.calls += 1;
    },

    /** Charges a finished call. A cost of `null` is unknown. */
    charge({ tokens, costUsd }: { tokens: number; costUsd: number | null }): void {
      spent.tokens += tokens;
      spent.costUsd += costUsd ?? Number.POSITIVE_INFINITY;
    },
  };
}

/** In the order in which they are checked, with the name that an agent reads. */
const limitNames: Record<keyof Budget, string> = {
  costUsd: 'cost',
  tokens: 'tokens',
  calls: 'model calls',
  wallMs: 'time',
};
const limits = Object.keys(limitNames) as (keyof Budget)[];

/** A call is not made because a budget is used up. */
export class OverBudget extends Error {
  override readonly name = 'OverBudget';

  readonly limit: BudgetLimit;
  readonly isShared: boolean;

  constructor(limit: BudgetLimit, isShared: boolean) {
    super(budgetMessage(limit));
    this.limit = limit;
    this.isShared = isShared;
  }
}

/** @throws OverBudget when one of them is used up; `admitted`: for a call that is already counted. */
export function checkBudgets(accounts: readonly BudgetAccount[], admitted = false): void {
  for (const account of accounts) {
    const limit = account.exceeded(admitted);
    if (limit) throw new OverBudget(limit, account.isShared);
  }
}

/**
 * The message that an agent gets. It has no figures and none of the words of an outage: agents that look for those in
 * an error would think that it passes, and retry.
 */
const budgetMessage = (limit: BudgetLimit): string =>
  `${limit === 'price' ? 'The price of a call is unknown, and this session has a budget for cost.' : `This session's budget is used up (${limitNames[limit]}).`} Stop here: no further model call will be made.`;
