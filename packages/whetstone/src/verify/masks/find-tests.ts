import type { TestRunnerName } from '../../config/schema.ts';
import { openSourceParser, type SourceParser } from '../../syntax/source-parser.ts';
import { escaped } from './escaped.ts';
import { javascriptTests } from './javascript-twins.ts';
import { pythonTests } from './python-twins.ts';
import type { FoundTests } from './twin.ts';

let opening: Promise<SourceParser> | undefined;

/** The tests of a file, and their twins. `undefined`: it cannot be parsed. */
export async function findTests(
  runner: TestRunnerName,
  file: string,
  text: string,
): Promise<FoundTests | undefined> {
  opening ??= openSourceParser();
  const parse = await opening;
  const isPython = runner === 'pytest' || runner === 'unittest';
  return parse(file, text, (root) => (isPython ? pythonTests(root, runner) : javascriptTests(root)));
}

/** Whether an id of a report is that of the test with these names in `file`, a path relative to `directory`'s root. */
export function idMatcher(
  runner: TestRunnerName,
  file: string,
  names: readonly (string | RegExp)[],
  directory = '',
): (id: string) => boolean {
  const parts = names.map((name) => (typeof name === 'string' ? escaped(name) : name.source.slice(1, -1)));
  if (runner === 'unittest') {
    const path = directory === '' ? file : file.slice(directory.length + 1);
    const module = path.replace(/\.py$/, '').replaceAll('/', '.');
    const pattern = new RegExp(`^${[escaped(module), ...parts].join('\\.')}$`);
    return (one) => pattern.test(one);
  }
  if (runner === 'pytest') {
    const inFile = new RegExp(`^${parts.join('::')}$`);
    return (one) => {
      const [path = '', ...rest] = one.split('::');
      // The file is relative to the folder that pytest takes for the root.
      return (
        (file === path || file.endsWith(`/${path}`)) && inFile.test(rest.join('::').replace(/\[.*\]$/s, ''))
      );
    };
  }
  const between = runner === 'mocha' ? ' ' : ' > ';
  const pattern = new RegExp(`^${parts.filter((part) => part !== '').join(escaped(between))}$`);
  const start = `${file} > `;
  return (one) => one.startsWith(start) && pattern.test(one.slice(start.length));
}
