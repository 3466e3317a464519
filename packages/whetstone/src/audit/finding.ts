/** A defect of a suite that was shown by playing it. */
export type Finding = {
  kind: FindingKind;
  task: string;
  /** What tells apart findings of one kind, such as the name of a cheat. */
  subject: string;
  /** What happened, in a sentence. */
  what: string;
  /** How to close it, in a sentence. */
  fix: string;
};

/** What each kind of finding is called, and how it is closed where nothing more particular is known. */
export const findingKinds = {
  'oracle-fails': {
    title: 'the gold patch fails',
    fix: 'Correct the tests or the gold patch: no agent can pass this task.',
  },
  'nop-passes': {
    title: 'a pass without any work',
    fix: 'Add a hidden test that fails on the tree that the task starts from.',
  },
  exploit: {
    title: 'an exploit',
    fix: 'Judge the task by validation.tests with hidden tests, and protect what the verdict depends on.',
  },
  'not-judged': {
    title: 'a verdict that could not be reached',
    fix: 'Correct what the message names, and play the audit again.',
  },
  flaky: {
    title: 'a grader that disagrees with itself',
    fix: 'Take chance, time and shared state out of the tests, or out of must_pass.',
  },
  surroundings: {
    title: 'tests that depend on their surroundings',
    fix: 'Let each test make what it needs, and set the date and the order that it relies on.',
  },
  'false-pass': {
    title: 'wrong solutions that pass',
    fix: 'Add tests that tell the listed mutants from the gold patch.',
  },
  'false-fail': {
    title: 'right solutions that fail',
    fix: 'Test what the code does: no source text, names of locals, or numbers of files.',
  },
  'answer-shown': {
    title: 'the answer is in sight of the agent',
    fix: 'Take it out of the tree and of the prompt, or withhold it with an overlay that removes it.',
  },
  'weak-verdict': {
    title: 'a verdict by exit codes only',
    fix: 'State validation.tests, so that the report of the test runner decides.',
  },
  unprotected: {
    title: 'files that decide the verdict and are not protected',
    fix: 'Name them in protected_paths, or lay them over the tree with hidden_tests.',
  },
  'no-limit': {
    title: 'a verification without a time limit',
    fix: 'Set validation.timeout_seconds, or code that never ends holds up the run for an hour.',
  },
  'unsafe-command': {
    title: 'a command that reaches for the machine',
    fix: 'Read it before anybody runs the task, and do without it: install by `environment`, in a sandbox that confines.',
  },
  unshown: {
    title: 'nothing shows that the task can be solved',
    fix: 'Name a gold_patch: without one there is no oracle, and there are no mutants and refactors.',
  },
} as const satisfies Record<string, { title: string; fix: string }>;

export type FindingKind = keyof typeof findingKinds;

export const finding = (
  kind: FindingKind,
  task: string,
  { subject, what, fix }: { subject: string; what: string; fix?: string },
): Finding => ({ kind, task, subject, what, fix: fix ?? findingKinds[kind].fix });
