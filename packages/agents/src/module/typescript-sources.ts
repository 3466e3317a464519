import { readFileSync } from 'node:fs';
import { registerHooks } from 'node:module';

const COMPILED: readonly [string, string][] = [
  ['.js', '.ts'],
  ['.mjs', '.mts'],
  ['.cjs', '.cts'],
];

/**
 * The TypeScript files that a relative import may stand for: `./x.js` and `./x` for `./x.ts`, as TypeScript itself reads
 * them. Empty for other imports.
 */
export function typescriptSources(specifier: string): string[] {
  if (!/^\.{1,2}\//.test(specifier)) return [];
  const renamed = COMPILED.flatMap(([compiled, source]) =>
    specifier.endsWith(compiled) ? [specifier.slice(0, -compiled.length) + source] : [],
  );
  return [...renamed, `${specifier}.ts`];
}

let isRegistered = false;

/** An import or an export of a module, at the beginning of a line. */
const MODULE_SYNTAX =
  /^(?:import\b(?!\s*[(.])|export\s+(?:default|const|let|var|type|interface|async|function|class|abstract|declare|\*|\{))/m;

/**
 * Whether a TypeScript file is a module by what is written in it, where its package.json says CommonJS, as `npm init`
 * does, or nothing, at which Node would warn.
 */
function isModuleByText(url: string, format: string | null | undefined): boolean {
  if (!/^file:.*\.ts(?:\?.*)?$/.test(url) || format === 'module-typescript') return false;
  return MODULE_SYNTAX.test(readFileSync(new URL(url), 'utf8'));
}

/**
 * From here on, an import of a TypeScript file that finds no file also finds the source that it stands for, and a
 * TypeScript file with imports or exports is a module whatever its package.json says.
 */
export function loadTypescriptSources(): void {
  if (isRegistered) return;
  isRegistered = true;
  registerHooks({
    resolve(specifier, context, next) {
      try {
        return next(specifier, context);
      } catch (error) {
        if (!/\.[mc]?ts$/.test(context.parentURL ?? '')) throw error;
        for (const source of typescriptSources(specifier)) {
          try {
            return next(source, context);
          } catch {
            // The first error names what the author wrote.
          }
        }
        throw error;
      }
    },
    load: (url, context, next) =>
      next(url, isModuleByText(url, context.format) ? { ...context, format: 'module-typescript' } : context),
  });
}
