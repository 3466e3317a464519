/** The messages for a turn that the host ended (`TurnExit.ended`). */
export const stoppedMessages = {
  timeout: 'The agent was stopped at its time limit.',
  abort: 'The agent was stopped because the run was aborted.',
} as const;
