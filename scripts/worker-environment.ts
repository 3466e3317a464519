import { type ResolveFnOutput, registerHooks } from 'node:module';
import type { Environment } from 'vitest/runtime';

const ROOT = new URL('../', import.meta.url).href;

/**
 * The node environment, in which a worker resolves each import of our files once. Its files import each other thousands of
 * times. Vitest resolves each import again and reports it to its main process, which needs that only to watch.
 */
const environment: Environment = {
  name: 'worker',
  viteEnvironment: 'ssr',
  setup() {
    if (process.env.VITEST_MODE !== 'WATCH') resolveOnce();
    return { teardown() {} };
  },
};

export default environment;

function resolveOnce(): void {
  const resolved = new Map<string, ResolveFnOutput>();
  registerHooks({
    resolve(specifier, context, next) {
      const key = keyOf(specifier, context.parentURL);
      if (key === undefined) return next(specifier, context);
      const asked = `${context.conditions.join()} ${key}`;
      const found = resolved.get(asked) ?? next(specifier, context);
      resolved.set(asked, found);
      return { ...found, shortCircuit: true };
    },
  });
}

/** What a name stands for depends on the package whose file imports it. Files that tests write may change: no key. */
function keyOf(specifier: string, parent: string | undefined): string | undefined {
  if (!parent?.startsWith(ROOT) || parent.includes('/node_modules/')) return undefined;
  if (/^\.{1,2}\//.test(specifier)) return new URL(specifier, parent).href;
  if (/^(?:[/#]|(?!node:)[a-z]+:)/.test(specifier)) return undefined;
  const [folder, name] = parent.slice(ROOT.length).split('/');
  return folder === 'packages' ? `${specifier} of ${name}` : specifier;
}
