import type { DrivenAgentKind } from '../../native/native-agents.ts';
import type { CaseName } from './cases.ts';

/** Why a case of the contract does not apply to an agent. */
export const reasons = {
  'no key': 'It has no key of its own, only the variables in `env`.',
  'own keys': 'The adapter reads its own keys.',
  'no inheritance': 'Only the released agents that Whetstone drives get files of the user’s home.',
  'model in the command': 'The command of the user names the model.',
  'no schema option': 'The released agent has no option for an output schema.',
  'text output': 'Its output is text: it has no structured output and reports no tool calls.',
  'masked by the run': 'Its events are masked when a run writes them (attempt/event-log.ts), not before.',
  'own memory': 'The adapter decides what it keeps in memory.',
  'part of Whetstone': 'It is part of Whetstone, so it cannot be missing.',
  'in process': 'It runs in this process and has no exit code.',
  'shown to its model': 'What its commands print, and that they fail, is for its model to read.',
} as const;

export type Reason = keyof typeof reasons;

export type ContractAgent = DrivenAgentKind | 'custom' | 'traecli' | 'coco' | 'bub' | 'module' | 'loop';

type Cells = Readonly<Partial<Record<CaseName, Reason>>>;

const noSchema: Cells = { 'structured output is data': 'no schema option' };

const command: Cells = {
  'a missing key is named before anything starts': 'no key',
  'its settings and inherited files are there when it starts': 'no inheritance',
  'the model of the configuration reaches it': 'model in the command',
  'the model of the turn reaches it': 'model in the command',
  'structured output is data': 'text output',
};
const commandWithoutEvents: Cells = {
  ...command,
  'its metadata is the same as that of every other agent': 'text output',
};

/** Agent × case → why the case does not apply. A case that holds for the agent may not stand here: a test tries it. */
export const notApplicable: Readonly<Partial<Record<ContractAgent, Cells>>> = {
  'gemini-cli': noSchema,
  'opencode-cli': noSchema,
  pi: noSchema,
  copilot: noSchema,
  custom: commandWithoutEvents,
  traecli: commandWithoutEvents,
  coco: commandWithoutEvents,
  bub: {
    ...command,
    'a secret in the output of a tool is masked in everything that is stored': 'masked by the run',
  },
  module: {
    'a missing key is named before anything starts': 'own keys',
    'its settings and inherited files are there when it starts': 'no inheritance',
    '200 MB of output stay out of memory': 'own memory',
    'a secret in the output of a tool is masked in everything that is stored': 'masked by the run',
  },
  loop: {
    'a missing program or module is named, with a hint how to get it': 'part of Whetstone',
    'its settings and inherited files are there when it starts': 'no inheritance',
    'a crash before it reports its end is a failed turn': 'in process',
    'after it reports its end, its exit code does not count': 'in process',
    'output that is not UTF-8 is kept, and characters stay whole': 'shown to its model',
    'a turn in a missing workspace does not complete': 'shown to its model',
  },
};
