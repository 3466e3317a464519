import type { DrivenAgentKind } from '../native-agents.ts';

/** How the process of a recording ended. */
export type End = {
  /** Its exit code, or the signal that ended it. */
  exit: number | 'SIGTERM' | 'SIGINT';
  /** Name of the recording, if it differs from the name of the row. */
  recording?: string;
  /** The process waited or retried until we stopped it. */
  isStopped?: true;
};

/** What goes wrong, and how each agent ended then, or why there is no recording. */
export type FailureRow = {
  name: string;
  recording: string;
  /** The turn still completes, with a rejected call. */
  isCompleted?: true;
  /** Agents that run a turn by themselves; one that is led through a protocol ends with its dialogue. */
  ends: Readonly<Partial<Record<DrivenAgentKind, End['exit'] | End | { none: string }>>>;
};

const stopped = (exit: End['exit']): End => ({ exit, isStopped: true });
const none = (reason: string) => ({ none: reason });
const noSuchSetting = none('no such setting');
const asOthers = none('same as any HTTP 400');

/**
 * Failures that `docs/agents-faults.md` does not play, because they need the agent's process or too much time. Recorded
 * on Linux with the tested versions; Claude Code with `CLAUDE_CODE_MAX_RETRIES=1`, Gemini CLI with
 * `general.maxAttempts: 2`.
 */
export const failureRows: readonly FailureRow[] = [
  {
    name: 'HTTP 400',
    recording: 'bad-request',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': 144,
      'qwen-code': 1,
      'opencode-cli': 1,
      pi: 0,
      copilot: 1,
    },
  },
  {
    name: 'HTTP 400 with the error type `server_error`',
    recording: 'bad-request-server-error',
    ends: {
      'codex-cli': asOthers,
      'claude-code': asOthers,
      'gemini-cli': asOthers,
      'qwen-code': asOthers,
      'opencode-cli': stopped('SIGTERM'),
      pi: 0,
      copilot: asOthers,
    },
  },
  {
    name: 'HTTP 403',
    recording: 'forbidden',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': 147,
      'qwen-code': 1,
      'opencode-cli': 1,
      pi: 0,
      copilot: 1,
    },
  },
  {
    name: 'HTTP 404, as for an unknown model',
    recording: 'unknown-model',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': 1,
      'qwen-code': 1,
      'opencode-cli': 1,
      pi: 0,
      copilot: 1,
    },
  },
  {
    name: 'HTTP 429 without `Retry-After`',
    recording: 'rate-limit',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': { exit: 173, recording: 'rate-limited' },
      'qwen-code': stopped('SIGTERM'),
      'opencode-cli': stopped('SIGTERM'),
      pi: 0,
      copilot: stopped(0),
    },
  },
  {
    name: 'the connection is refused',
    recording: 'port-closed',
    ends: {
      'codex-cli': stopped('SIGTERM'),
      'claude-code': 1,
      'gemini-cli': 1,
      'qwen-code': stopped('SIGTERM'),
      'opencode-cli': stopped('SIGTERM'),
      pi: 0,
      copilot: 1,
    },
  },
  {
    name: 'SIGTERM while the agent waits for an answer',
    recording: 'hang',
    ends: {
      'codex-cli': 'SIGTERM',
      'claude-code': 143,
      'gemini-cli': 0,
      'qwen-code': 'SIGTERM',
      'opencode-cli': 'SIGTERM',
      pi: 143,
      copilot: 0,
    },
  },
  {
    name: 'SIGINT while the agent waits for an answer',
    recording: 'interrupted',
    ends: {
      'codex-cli': 1,
      'claude-code': 0,
      'gemini-cli': 0,
      'qwen-code': 'SIGINT',
      'opencode-cli': 'SIGINT',
      pi: 'SIGINT',
      copilot: 0,
    },
  },
  {
    name: 'SIGTERM after an answer stops halfway',
    recording: 'hang-mid-stream',
    ends: {
      'codex-cli': 'SIGTERM',
      'claude-code': 143,
      'gemini-cli': 0,
      'qwen-code': 'SIGTERM',
      'opencode-cli': 'SIGTERM',
      pi: 143,
      copilot: 0,
    },
  },
  {
    name: 'no answer within the time limit of the agent',
    recording: 'own-timeout',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': noSuchSetting,
      'qwen-code': 55,
      'opencode-cli': 1,
      pi: noSuchSetting,
      copilot: noSuchSetting,
    },
  },
  {
    name: 'the agent reaches its turn limit',
    recording: 'turn-limit',
    ends: {
      'codex-cli': noSuchSetting,
      'claude-code': 1,
      'gemini-cli': 53,
      'qwen-code': 53,
      'opencode-cli': noSuchSetting,
      pi: noSuchSetting,
      copilot: noSuchSetting,
    },
  },
  {
    name: 'a tool call is denied',
    recording: 'denied',
    isCompleted: true,
    ends: {
      'codex-cli': none('the stream leaves the call out'),
      'claude-code': 0,
      'gemini-cli': 0,
      'qwen-code': 0,
      'opencode-cli': { exit: 0, recording: 'main' },
      pi: none('every tool call is allowed'),
      copilot: 0,
    },
  },
  {
    name: 'no API key',
    recording: 'no-key',
    ends: {
      'codex-cli': 1,
      'claude-code': 1,
      'gemini-cli': 41,
      'qwen-code': 1,
      'opencode-cli': 1,
      pi: 1,
      copilot: 1,
    },
  },
];
