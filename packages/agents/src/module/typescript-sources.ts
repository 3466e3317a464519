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

/** From here on, an import of a TypeScript file that finds no file also finds the source that it stands for. */
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
  });
}
