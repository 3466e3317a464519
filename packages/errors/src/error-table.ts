import { agentErrors } from './table/agents.ts';
import type { ErrorClass, ErrorEntry } from './table/error-entry.ts';
import { eventErrors } from './table/events.ts';
import { gatewayErrors } from './table/gateway.ts';
import { loopErrors } from './table/loop.ts';
import { sandboxErrors } from './table/sandbox.ts';
import { whetstoneErrors } from './table/whetstone.ts';

const entries = {
  ...agentErrors,
  ...eventErrors,
  ...gatewayErrors,
  ...loopErrors,
  ...sandboxErrors,
  ...whetstoneErrors,
};

/** Kebab-case, subject first: `script-invalid`. Once released, a code keeps its name and its meaning. */
export type ErrorCode = keyof typeof entries;

/** Every error code of every package. */
export const errorTable: Readonly<Record<ErrorCode, ErrorEntry>> = entries;

/** 2: what was asked for cannot be done. 3: it could have been done, and was not. */
export const exitCodes: Readonly<Record<ErrorClass, 2 | 3>> = {
  usage: 2,
  task: 2,
  sandbox: 3,
  model: 3,
  harness: 3,
};
