/** A manifest of a tree: its display path and its text. */
export type Manifest = { path: string; text: string };

/** Why commands see the whole tree if there is nothing else to see. */
export const NO_MANIFEST = 'it has no manifest and no lock file';

/**
 * Why commands that install packages need more of a tree than its manifests and lock files: they install the project itself,
 * or run scripts of it. `undefined`: nothing in the manifests says so. It reads what is usual; a command that it does not
 * know shows by its failure what it needs.
 */
export function needOfWholeTree(
  commands: readonly string[],
  manifests: readonly Manifest[],
): string | undefined {
  for (const words of commands.flatMap(simpleCommands)) {
    const need = ofPython(words, manifests) ?? ofNode(words, manifests);
    if (need !== undefined) return need;
  }
  return undefined;
}

/** Why a command that installs packages of Node would run scripts of the project itself. `undefined`: it would not. */
export function scriptsOfProject(command: string, manifests: readonly Manifest[]): string | undefined {
  return simpleCommands(command).flatMap((words) => ofNode(words, manifests) ?? [])[0];
}

/** The manifests whose text decides. */
export const isReadManifest = (path: string): boolean =>
  /(?:^|\/)(?:package\.json|\.npmrc|pyproject\.toml|Pipfile|requirements[^/]*\.txt)$|(?:^|\/)requirements\//.test(
    path,
  );

/** The words of each command of a script, without quotes and without assignments before it. */
function simpleCommands(script: string): string[][] {
  return script
    .split(/&&|\|\||[;\n|&()]/)
    .map((command) =>
      [...command.matchAll(/(?:[^\s'"]|'[^']*'|"[^"]*")+/g)].map(([word]) => word.replace(/['"]/g, '')),
    )
    .map((words) => words.slice(words.findIndex((word) => !/^\w+=/.test(word) && word !== 'corepack')))
    .filter((words) => words.length > 0);
}

const said = (words: readonly string[]): string => `\`${words.join(' ')}\` installs the project itself`;

function ofPython(words: readonly string[], manifests: readonly Manifest[]): string | undefined {
  const has = (...options: string[]) => options.some((option) => words.includes(option));
  const text = (name: string) => manifests.find(({ path }) => path === name)?.text ?? '';
  const at = words.findIndex((word) => /^(?:.*\/)?(?:pip3?|uv|poetry|pdm|pipenv)$/.test(word));
  if (words.some((word) => /(?:^|\/)setup\.py$/.test(word))) return said(words);
  const [program, ...rest] = words.slice(at).map((word) => word.replace(/^.*\/(?=pip3?$|uv$)/, ''));
  if (at === -1 || program === undefined) return undefined;
  if (program === 'uv' && rest[0] === 'sync') {
    const isPackage = /^\[build-system\]/m.test(text('pyproject.toml'));
    return isPackage && !has('--no-install-project', '--no-install-workspace', '--no-install-local')
      ? said(words)
      : undefined;
  }
  if (program === 'poetry')
    return rest[0] === 'install' &&
      !has('--no-root') &&
      !/^package-mode *= *false/m.test(text('pyproject.toml'))
      ? said(words)
      : undefined;
  if (program === 'pdm')
    return /^(?:install|sync)$/.test(rest[0] ?? '') && !has('--no-self') ? said(words) : undefined;
  if (program === 'pipenv')
    return rest.includes('-e') || /^[^#\n]*\bpath *= */m.test(text('Pipfile')) ? said(words) : undefined;
  const arguments_ = rest.slice(rest.findIndex((word) => /^(?:install|wheel)$/.test(word)) + 1);
  if (arguments_.length === rest.length) return undefined;
  let listed: string | undefined;
  for (const [index, word] of arguments_.entries()) {
    const before = arguments_[index - 1] ?? '';
    if (/^(?:-r|--requirement)$/.test(before)) listed ??= folderIn(word.replace(/^\.\//, ''), manifests);
    else if (
      /^(?:-c|--constraint|-t|--target|-f|--find-links|-i|--index-url|--extra-index-url|--prefix|--root|--python)$/.test(
        before,
      )
    )
      continue;
    else if (/^(?:-e|--editable(?:=.*)?)$/.test(word) || isFolder(word)) return said(words);
  }
  return listed;
}

/** A folder of the tree, with or without extras: `.`, `.[test]`, `./packages/a`, `..`. */
const isFolder = (word: string): boolean => /^\.{1,2}(?:\/|\[|$)/.test(word);

/** A file of requirements that names a folder of the tree. */
function folderIn(path: string, manifests: readonly Manifest[]): string | undefined {
  const lines = manifests.find((one) => one.path === path)?.text.split('\n') ?? [];
  const line = lines.find((one) => /^\s*(?:-e\s|--editable\b)/.test(one) || isFolder(one.trim()));
  return line === undefined ? undefined : `${path} names a folder of the tree: ${line.trim()}`;
}

/** The commands of package managers that install, by program. `yarn` alone installs, too. */
const NODE_INSTALLS: Readonly<Record<string, RegExp>> = {
  npm: /^(?:ci|i|install|clean-install|install-clean|rebuild|install-ci-test|it|cit)$/,
  pnpm: /^(?:i|install|rebuild)$/,
  yarn: /^install$/,
  bun: /^(?:i|install|ci)$/,
};

/** The scripts that an installation runs, also where they belong to a package of a workspace. */
const INSTALL_SCRIPTS = [
  ...['preinstall', 'install', 'postinstall', 'prepublish', 'preprepare', 'prepare', 'postprepare'],
  'pnpm:devPreinstall',
];

/** What needs no source: managers of Git hooks, checks of the package manager, patches, which are inputs. */
const HARMLESS =
  /^(?:(?:npx|pnpm exec|yarn|bunx|is-ci \|\|)\s+)?(?:husky(?: install)?(?: [\w./-]+)?|lefthook install|simple-git-hooks|only-allow \w+|patch-package|is-ci|corepack enable|echo\b.*|true|:|exit 0)$/;

function ofNode(words: readonly string[], manifests: readonly Manifest[]): string | undefined {
  const [program = '', ...rest] = words;
  const installs = Object.hasOwn(NODE_INSTALLS, program) ? NODE_INSTALLS[program] : undefined;
  const isBare = program === 'yarn' && rest.every((word) => word.startsWith('-'));
  if (!installs || !(isBare || rest.some((word) => installs.test(word)))) return undefined;
  if (rest.some((word) => /^--ignore-scripts(?:=true)?$/.test(word))) return undefined;
  const settings = manifests.find(({ path }) => path === '.npmrc')?.text ?? '';
  if (program !== 'bun' && /^ *ignore-scripts *= *true/m.test(settings)) return undefined;
  // A manifest in a folder of fixtures is installed by nobody. `cd packages/a && npm ci` is not followed: it is read as one
  // of the whole repository.
  const isWorkspace = manifests.some(
    ({ path, text }) => path === 'package.json' && manifestObject(text).workspaces !== undefined,
  );
  const counted = (path: string) =>
    path === 'package.json' ||
    isWorkspace ||
    program === 'pnpm' ||
    rest.some((word) => /^(?:-C|--prefix|--dir|--cwd)/.test(word));
  for (const { path, text } of manifests) {
    if (!/(?:^|\/)package\.json$/.test(path) || !counted(path)) continue;
    const scripts = manifestObject(text).scripts;
    for (const name of INSTALL_SCRIPTS) {
      const script =
        typeof scripts === 'object' && scripts !== null
          ? (scripts as Record<string, unknown>)[name]
          : undefined;
      if (typeof script !== 'string' || script.split(/&&|\|\||;/).every((part) => HARMLESS.test(part.trim())))
        continue;
      return `${path} has the script "${name}": ${script}`;
    }
  }
  return undefined;
}

/** The members of a JSON object; none where the text is not one. */
export function manifestObject(text: string): Record<string, unknown> {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? { ...value } : {};
  } catch {
    return {};
  }
}
