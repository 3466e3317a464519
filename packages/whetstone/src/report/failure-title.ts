/** What the class of a failure means, in words for a heading. */
const TITLES: Record<string, string> = {
  agent: "Agent's work failed",
  timeout: 'Agent ran out of time',
  budget: 'Budget used up',
  policy: 'Agent broke a policy',
  cheating: 'Agent cheated',
  task: 'Task could not be set up',
  verifier: 'Verification could not run',
  harness: 'Whetstone could not run the case',
  sandbox: 'Sandbox failed',
  'provider-limit': "Provider's rate limit reached",
  'provider-outage': 'Provider outage',
};

/** The title of a failure class; a class without one is its own title. */
export function failureTitle(failureClass: string): string {
  return TITLES[failureClass] ?? failureClass;
}
