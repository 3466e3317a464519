import { execFileSync } from 'node:child_process';
import { expect, test } from 'vitest';

// Each of them takes longer to load than the whole loop.
test('an import of the loop loads no validator, no price list, no provider and no diff', () => {
  const script = `
    import { registerHooks } from 'node:module';
    const loaded = [];
    registerHooks({ load: (url, context, next) => (loaded.push(url), next(url, context)) });
    await import('./src/index.ts');
    console.log(JSON.stringify(loaded.flatMap((url) => /node_modules\\/((?:@[^/]+\\/)?[^/]+)/.exec(url)?.[1] ?? [])));
  `;
  const output = execFileSync(process.execPath, ['--input-type=module', '--eval', script], {
    cwd: new URL('..', import.meta.url),
    encoding: 'utf8',
  });
  const packages: string[] = JSON.parse(output);
  expect(packages).toContain('picomatch');
  expect(
    packages.filter((name) =>
      /^(zod|ajv|diff|ignore|@pydantic|@modelcontextprotocol|@secretlint|@vscode|@ai-sdk)/.test(name),
    ),
  ).toEqual(['@ai-sdk/provider']);
});
