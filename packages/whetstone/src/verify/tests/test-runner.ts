import type { TaskTests } from '../../config/config.ts';

/** The result of a test. `skipped` includes tests that are marked as to do. */
export type TestStatus = 'passed' | 'failed' | 'skipped';

/**
 * What a runner reports, by the id of the test: its file, relative to the root of the tree, and its names from the
 * outermost suite to the test, joined by ` > `. pytest's ids are its own. Of two tests with one id the worse counts.
 */
export type TestReport = {
  tests: ReadonlyMap<string, TestStatus>;
  /** How many tests have an id. Absent: one each. */
  counts?: ReadonlyMap<string, number>;
  /** How tests have failed, by id, in the words of the runner. Absent: the runner does not say. */
  messages?: ReadonlyMap<string, string>;
  /** Why the report is not whole: files that could not be loaded, or no report at all. */
  problems: readonly string[];
  /** A later date was asked for, and the tests ran with today's. Absent: they had the date that was asked for. */
  hasTodaysDate?: true;
  /** Another order was asked for, and the tests ran in their usual one. Absent: in the order that was asked for. */
  hasUsualOrder?: true;
};

/** Changes of the surroundings in which a right test gives the same result. */
export type Variation = {
  /** Tests in another order. */
  order?: boolean;
  /** A later date. */
  date?: boolean;
};

/** The variations that a runner can do. */
export type Variable = Readonly<Record<keyof Variation, boolean>>;

export type Invocation = {
  /** A shell script, whose arguments are `args`. It starts in the folder of the tests. */
  script: string;
  args: string[];
  env: Record<string, string>;
  /** Files that the runner needs, by name, in the folder of the report. */
  files?: Record<string, string>;
  /** The standard output of the runner is its report. Default: it writes the file `report`. */
  reportsOnStdout?: true;
};

/** How one test runner is started so that its report can be read. */
export type TestRunner = {
  /** `folder`: absolute, outside of the tree; the report goes to `report` in it, where the runner can write one. */
  invoke(
    tests: Pick<TaskTests, 'options'> & { files: readonly string[] },
    folder: string,
    vary: Variation & {
      /** Failures are told without the values of the assertion, some of which never end. Default: with them. */
      isTerse?: boolean;
      /** Whose settings the runner gets: `ours`, so that it looks for no others, or those that it finds. Default: `found`. */
      settings?: 'found' | 'ours';
    },
  ): Invocation;
  /**
   * `report`: its whole text, `undefined` where there is none. `relative`: makes an absolute path relative to the tree.
   * `order`: another order was asked for.
   */
  read(output: {
    report: string | undefined;
    relative: (path: string) => string;
    order?: boolean;
  }): TestReport;
  varies: Variable;
  /** Where settings of the runner are: names of files, and a key of package.json. Absent: it has none that ours could replace. */
  settings?: { files: RegExp; key?: string };
};

/** Programs of the tree's packages come first. `$ROOT` is the root of the tree. */
export const nodeScript = (command: string): string =>
  `PATH="$PWD/node_modules/.bin:$ROOT/node_modules/.bin:$PATH" exec ${command} "$@"`;

/** Joins a file and the names of a test. */
export const testId = (...parts: readonly string[]): string =>
  parts.filter((part) => part !== '').join(' > ');

/** How much of the message of a failure is kept, in UTF-16 units. */
const MESSAGE_LENGTH = 4000;

/** Collects results; the worse of two results of one id counts. */
export function collectTests() {
  const tests = new Map<string, TestStatus>();
  const counts = new Map<string, number>();
  const messages = new Map<string, string>();
  const rank: Record<TestStatus, number> = { passed: 0, skipped: 1, failed: 2 };
  return {
    tests,
    counts,
    messages,
    /** `isSame`: it can be the result of a test that has one already. */
    add(
      id: string,
      status: TestStatus,
      { isSame = false, message }: { isSame?: boolean; message?: string | undefined } = {},
    ) {
      const known = tests.get(id);
      if (known === undefined || !isSame) counts.set(id, (counts.get(id) ?? 0) + 1);
      if (known === undefined || rank[status] > rank[known]) tests.set(id, status);
      if (status === 'failed' && message !== undefined) messages.set(id, message.slice(0, MESSAGE_LENGTH));
    },
  };
}

/** The report has no end: something ended the runner. */
export const ENDED_EARLY = 'the runner ended before its tests had';

export const NO_REPORT: TestReport = { tests: new Map(), problems: ['the runner wrote no report'] };
