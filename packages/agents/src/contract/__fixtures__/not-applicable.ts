import type { DrivenAgentKind } from '../../native/native-agents.ts';
import type { CaseName } from './cases.ts';

/** Why a case of the contract does not apply to an agent. */
export const reasons = {
  'no key': 'The agent has no key of its own, only the variables in `env`.',
  'own keys': 'The adapter reads its own keys.',
  'no inheritance': 'Only released agents that Whetstone drives get files from the user’s home.',
  'model in the command': 'The user’s command names the model.',
  'needs a model': 'The agent has no model of its own, so its configuration names one, which comes first.',
  'no schema option': 'The released agent has no option for an output schema.',
  'text output': 'The output is plain text, without structured output and tool calls.',
  'masked by the run': 'Events are only masked when a run writes them (attempt/drive.ts).',
  'own memory': 'The adapter decides what it keeps in memory.',
  'part of Whetstone': 'The agent is part of Whetstone and cannot be missing.',
  'in process': 'The agent runs in this process and has no exit code.',
  'led by its input': 'The agent is led through its standard input, which stays open until it ends.',
  'shown to its model': 'Output and failures of commands go to the agent’s model.',
  'refuses nothing': 'The agent has no word for a refusal: it refuses nothing.',
} as const;

export type Reason = keyof typeof reasons;

export type ContractAgent = DrivenAgentKind | 'opencode-sdk with a server' | 'acp' | 'acp with a command' | 'custom' | 'traecli' | 'coco' | 'bub' | 'module' | 'ai-sdk-harness' | 'loop';

type Cells = Readonly<Partial<Record<CaseName, Reason>>>;

const noSchema: Cells = { 'structured output is data': 'no schema option' };

const protocol: Cells = {
  'standard input ends after the prompt, so a question gets no answer': 'led by its input',
};

const command: Cells = {
  'a missing key is an error before anything starts': 'no key',
  'settings and inherited files exist before the agent starts': 'no inheritance',
  'the agent gets the model of the configuration': 'model in the command',
  'the agent gets the model of the turn': 'model in the command',
  'structured output is data': 'text output',
  'a refused call has one shape, which says who refused it and by which rule': 'text output',
};
const commandWithoutEvents: Cells = {
  ...command,
  'the metadata is the same for every agent': 'text output',
};

/** Agent × case → why the case does not apply. A test checks that each of these cases really fails for the agent. */
export const notApplicable: Readonly<Partial<Record<ContractAgent, Cells>>> = {
  'codex-app-server': {
    'standard input ends after the prompt, so a question gets no answer': 'led by its input',
  },
  'gemini-cli': noSchema,
  'opencode-cli': noSchema,
  pi: { ...noSchema, 'a refused call has one shape, which says who refused it and by which rule': 'refuses nothing' },
  copilot: { ...noSchema, 'the agent gets the model of the turn': 'needs a model' },
  acp: { ...noSchema, ...protocol },
  'acp with a command': {
    ...{ ...noSchema, ...protocol },
    'a missing key is an error before anything starts': 'no key',
    'settings and inherited files exist before the agent starts': 'no inheritance',
    'the agent gets the model of the configuration': 'model in the command',
    'the agent gets the model of the turn': 'model in the command',
  },
  'codex-sdk': protocol,
  'claude-agent-sdk': protocol,
  'opencode-sdk': protocol,
  'opencode-sdk with a server': {
    ...protocol,
    'a missing key is an error before anything starts': 'no key',
    'settings and inherited files exist before the agent starts': 'no inheritance',
  },
  custom: commandWithoutEvents,
  traecli: commandWithoutEvents,
  coco: commandWithoutEvents,
  bub: {
    ...command,
    'a secret in the output of a tool is masked in everything that is stored': 'masked by the run',
  },
  module: {
    'a missing key is an error before anything starts': 'own keys',
    'settings and inherited files exist before the agent starts': 'no inheritance',
    '200 MB of output are not kept in memory': 'own memory',
    'a secret in the output of a tool is masked in everything that is stored': 'masked by the run',
  },
  'ai-sdk-harness': {
    'a missing key is an error before anything starts': 'own keys',
    'settings and inherited files exist before the agent starts': 'no inheritance',
    'structured output is data': 'no schema option',
    'a crash before the end of the turn is reported is a failed turn': 'in process',
    'the exit code does not count once the end of the turn is reported': 'in process',
    'output that is not UTF-8 is kept, and characters stay whole': 'own memory',
    '200 MB of output are not kept in memory': 'own memory',
    'a secret in the output of a tool is masked in everything that is stored': 'masked by the run',
  },
  loop: {
    'a refused call has one shape, which says who refused it and by which rule': 'refuses nothing',
    'a missing program or module is an error with a hint how to get it': 'part of Whetstone',
    'settings and inherited files exist before the agent starts': 'no inheritance',
    'a crash before the end of the turn is reported is a failed turn': 'in process',
    'the exit code does not count once the end of the turn is reported': 'in process',
    'output that is not UTF-8 is kept, and characters stay whole': 'shown to its model',
    'a turn in a missing workspace does not complete': 'shown to its model',
  },
};
