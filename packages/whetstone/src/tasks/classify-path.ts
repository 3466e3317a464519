/** What a file of a repository is, by its path only. */
export type PathKind =
  /** Code that a task is about. */
  | 'source'
  /** A file that a test runner runs. */
  | 'test'
  /** What tests need beside it: fixtures, snapshots, helpers. */
  | 'test-data'
  /** Written by a program. */
  | 'generated'
  | 'lock-file'
  | 'other';

const LOCK_FILES =
  /(^|\/)(package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|yarn\.lock|bun\.lockb?|uv\.lock|poetry\.lock|Pipfile\.lock|go\.sum|Cargo\.lock)$/;
const GENERATED =
  /(^|\/)(dist|build|out|coverage|vendor|node_modules|__generated__|__pycache__)\/|\.min\.(js|css)$|\.generated\.|_pb2(_grpc)?\.pyi?$|\.pb\.go$|\.map$/;
const SOURCE = /\.([cm]?[jt]sx?|vue|svelte|py|pyi|go|rs)$/;
const TEST_FOLDER = /(^|\/)(tests?|__tests__|specs?|e2e|testdata)\//;
const TEST_NAME = /\.(test|spec)\.[cm]?[jt]sx?$|(^|\/)test[_.][^/]*$|_test\.(py|go)$|(^|\/)conftest\.py$/;
/** Folders and names in a test folder that hold no tests. */
const BESIDE_TESTS =
  /(^|\/)(__fixtures__|fixtures?|__snapshots__|__mocks__|mocks?|helpers?|support|utils?|data|testdata)\/|(^|\/)(conftest|__init__|setup|helpers?|utils?|common)\.[^/]+$|\.d\.ts$|\.test-d\.ts$/;

/** Which files a runner runs, by its language. */
const RUNNABLE = /\.[cm]?[jt]sx?$|(^|\/)(test_[^/]*|[^/]*_test)\.py$|_test\.go$|(^|\/)tests\/[^/]+\.rs$/;

export function classifyPath(path: string): PathKind {
  if (LOCK_FILES.test(path)) return 'lock-file';
  const ofTests =
    TEST_FOLDER.test(path) || TEST_NAME.test(path) || /(^|\/)__(snapshots|fixtures)__\//.test(path);
  if (ofTests) return RUNNABLE.test(path) && !BESIDE_TESTS.test(path) ? 'test' : 'test-data';
  if (GENERATED.test(path)) return 'generated';
  return SOURCE.test(path) && !CONFIGURATION.test(path) ? 'source' : 'other';
}

const CONFIGURATION =
  /(^|\/)[^/]*(\.config\.[cm]?[jt]s|rc\.[cm]?js)$|(^|\/)(benchmarks?|examples?|docs|scripts)\//;
