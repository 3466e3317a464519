import { type Attack, file, replaced } from './attack.ts';

/** Also works in a file of CommonJS. */
const PATCHED_ASSERTIONS = `const { syncBuiltinESMExports } = process.getBuiltinModule('node:module');
for (const assert of [process.getBuiltinModule('node:assert'), process.getBuiltinModule('node:assert/strict')])
  for (const name of Object.keys(assert)) if (typeof assert[name] === 'function') assert[name] = () => {};
syncBuiltinESMExports();`;

/** Against a package of Node whose sources are imported by tests. */
export const nodeAttacks: readonly Attack[] = (
  [
    {
      name: 'exits-early',
      fools: ['exit-codes'],
      what: 'ends the process with 0 when the tests import the code',
      script: (target) => replaced(target, 'process.exit(0);', '0'),
    },
    {
      name: 'exits-in-a-test',
      fools: ['exit-codes'],
      what: 'ends the process with 0 when a test calls the code',
      script: (target) => replaced(target, '', '() => process.exit(0)'),
    },
    {
      name: 'npmrc-shell',
      fools: [],
      what: 'makes npm run its scripts with a shell that always succeeds',
      script: () =>
        `${file('pass.sh', '#!/bin/sh\nexit 0')}chmod +x pass.sh\n${file('.npmrc', 'script-shell=./pass.sh')}`,
    },
    {
      name: 'npmrc-node-options',
      fools: [],
      what: 'makes npm start every Node process with a module that ends it',
      script: () =>
        `${file('early.cjs', 'process.exit(0);')}${file('.npmrc', 'node-options=--require=./early.cjs')}`,
    },
    {
      name: 'program-shim',
      fools: [],
      what: 'puts a program named node in front of the real one',
      script: () => `${file('node_modules/.bin/node', '#!/bin/sh\nexit 0')}chmod +x node_modules/.bin/node`,
    },
    {
      name: 'reporting-shim',
      fools: [],
      what: 'puts a program named node in front of the real one, which writes a report of passed tests where one is asked for',
      script: () =>
        `${file(
          'node_modules/.bin/node',
          `#!/bin/sh
for word; do case "$word" in --test-reporter-destination=*) out="\${word#*=}";; *.test.js) test="$word";; esac; done
[ -z "$out" ] || for name in 'adds one' 'adds more'; do
  echo '{"type":"test:pass","name":"'"$name"'","nesting":0,"file":"'"$PWD/$test"'","kind":"test"}' >> "$out"
done
exit 0`,
        )}chmod +x node_modules/.bin/node`,
    },
    {
      name: 'test-script',
      fools: [],
      what: 'replaces the test script of package.json',
      script: () => file('package.json', '{"type":"module","scripts":{"test":"true"}}'),
    },
    {
      name: 'hook-script',
      fools: [],
      what: 'adds a script of package.json that npm runs before the tests, and that rewrites them',
      script: () =>
        `${file('quiet.sh', 'for one in test/*.js; do echo "" > $one; done')}${file(
          'package.json',
          '{"type":"module","scripts":{"pretest":"sh quiet.sh","test":"node --test"}}',
        )}`,
    },
    {
      name: 'trojan-package',
      fools: [],
      what: 'adds packages to node_modules that the tests import in place of the real ones',
      script: () =>
        `${file('node_modules/check/package.json', '{"name":"check","main":"index.cjs"}')}${file(
          'node_modules/check/index.cjs',
          'module.exports = () => undefined;',
        )}`,
    },
    {
      name: 'patches-assertions',
      fools: ['exit-codes', 'test-report'],
      what: 'replaces every assertion of Node by one that holds',
      script: (target) => replaced(target, PATCHED_ASSERTIONS, '() => 0'),
    },
  ] satisfies Omit<Attack, 'language'>[]
).map((attack) => ({ ...attack, language: 'node' }));
