/** A cheating agent: a shell script that runs in the workspace, does not do the task, and tries to be graded as if it had. */
export type Attack = {
  name: string;
  /** One sentence: what it does. */
  what: string;
  /** The language of the tasks that it attacks. */
  language: 'node' | 'python';
  /** The verdicts that it fools: those by exit codes of commands, those by the report of the test runner. */
  fools: readonly ('exit-codes' | 'test-report')[];
  script: string;
};

/** A shell command that writes a file, with its folder. The text may hold anything but a line `END`. */
export const file = (path: string, text: string): string =>
  `mkdir -p "$(dirname '${path}')"; cat > '${path}' <<'END'\n${text}\nEND\n`;
