import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';
import { fileURLToPath } from 'node:url';
import { loadTypescriptSources } from '@whetstone/agents/evals';

/** `.ts` in the repository, `.js` in the published package. */
const EXTENSION = import.meta.url.slice(-3);
const ownModule = (path: string): string => new URL(`${path}${EXTENSION}`, import.meta.url).href;
const AUTHORING = ownModule('./authoring');
const OWN: Readonly<Record<string, string>> = {
  whetstone: ownModule('../index'),
  'whetstone/adapter': ownModule('../adapter'),
  'whetstone/expect': ownModule('../expect'),
};

let loaded: Promise<void> | undefined;

/**
 * From here on, `whetstone` is this package, whatever is installed beside the files of the user. Files that import only
 * what evals are written with get just that, because the whole library takes ten times as long to load.
 */
export function resolveWhetstone(): Promise<void> {
  loaded ??= import(AUTHORING).then((authoring: object) => register(new Set(Object.keys(authoring))));
  return loaded;
}

function register(authoringNames: ReadonlySet<string>): void {
  loadTypescriptSources();
  const targets = new Map<string, string>();
  registerHooks({
    resolve(specifier, context, next) {
      const own = OWN[specifier];
      const { parentURL } = context;
      if (own === undefined || !parentURL?.startsWith('file:')) return next(specifier, context);
      const key = `${specifier} ${parentURL}`;
      const light = specifier === 'whetstone' && importsOnly(fileURLToPath(parentURL), authoringNames);
      const url = targets.get(key) ?? (light ? AUTHORING : own);
      targets.set(key, url);
      return { url, shortCircuit: true };
    },
  });
}

const IMPORT = /(?:import|export)\s+(?!type\b)(?<what>[^'";]*?)\s+from\s+(['"])whetstone\2/g;

function importsOnly(file: string, known: ReadonlySet<string>): boolean {
  const imports = [...readFileSync(file, 'utf8').matchAll(IMPORT)];
  return imports.every(({ groups }) => {
    const names = /^\{(?<names>[^}]*)\}$/.exec(groups?.what ?? '')?.groups?.names;
    return names?.split(',').every((part) => {
      const name = part.trim().split(/\s+as\s+/)[0] ?? '';
      return name === '' || name.startsWith('type ') || known.has(name);
    });
  });
}
