/** The messages for a turn that the host ended. */
export const stoppedMessages = {
  timeout: 'The agent was stopped at its time limit.',
  abort: 'The agent was stopped because the run was aborted.',
  refused: 'The agent was stopped because its provider keeps refusing its key or login.',
} as const;
