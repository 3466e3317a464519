/** A cheating agent: a shell script that runs in the workspace, does not do the task, and tries to be graded as if it had. */
export type Attack = {
  name: string;
  /** One sentence: what it does. */
  what: string;
  /** The language of the tasks that it attacks. `any`: a shell is enough. */
  language: 'node' | 'python' | 'any';
  /** The verdicts that it fools: those by exit codes of commands, those by the report of the test runner. */
  fools: readonly ('exit-codes' | 'test-report')[];
  script: (target: Target) => string;
};

/** What an attack is about: the code that the tests of a task are about. Paths are relative to the tree. */
export type Target = {
  /** At least one. */
  sources: readonly TargetSource[];
  /** The files of the tests, by the names that they have when the tests run. */
  tests: readonly string[];
  /** The commands that validate, as text. Default: none. */
  commands?: readonly string[];
  /** The name of the package at its registry. Default: it is not known. */
  packageName?: string;
  /** Addresses of the repository, such as that of its `origin`. Default: none is known. */
  upstreams?: readonly string[];
  /** Absolute path of the patch that solves the task on the machine that judges it. Default: there is none. */
  goldPatch?: string;
  /** Absolute path of the hidden tests on the machine that judges the task. Default: there are none. */
  hiddenTests?: string;
  /** Whether commands run in a sandbox that keeps them from changing this machine. Default: they do not. */
  isConfined?: boolean;
};

/** `exports`: the names that other files can import, `default` among them. */
export type TargetSource = {
  path: string;
  format: 'module' | 'commonjs' | 'python';
  exports: readonly string[];
};

/** A shell command that writes a file, with its folder. The text may hold anything but a line `END`. */
export const file = (path: string, text: string): string =>
  `mkdir -p "$(dirname '${path}')"; cat > '${path}' <<'END'\n${text}\nEND\n`;

/** Replaces each source by code of its language: `before`, and then every export with that value. */
export const replaced = ({ sources }: Target, before: string, value: string): string =>
  sources.map(({ path, ...source }) => file(path, `${before}\n${exported(source, value)}`)).join('');

function exported({ format, exports }: Omit<TargetSource, 'path'>, value: string): string {
  if (format === 'python') return exports.map((name) => `${name} = ${value}`).join('\n');
  if (format === 'commonjs') {
    const named = exports.filter((name) => name !== 'default');
    const whole = exports.includes('default') ? `module.exports = ${value};` : '';
    return [whole, ...named.map((name) => `module.exports.${name} = ${value};`)].join('\n');
  }
  return exports
    .map((name) => (name === 'default' ? `export default ${value};` : `export const ${name} = ${value};`))
    .join('\n');
}
