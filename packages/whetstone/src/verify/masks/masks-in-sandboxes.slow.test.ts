import { spawnSync } from 'node:child_process';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { hasBubblewrap } from '../../../../sandbox/src/__fixtures__/has-bubblewrap.ts';
import { openMaskedRoom } from '../__fixtures__/masked-room.ts';
import { SUMS, sumProject } from '../__fixtures__/sum-project.ts';

/** Finds a file of tests on the machine that holds nothing but what is true: the hidden tests themselves. */
const FINDS_IN_NODE = `const fs = process.getBuiltinModule('node:fs');
const namesIn = (folder) => { try { return fs.readdirSync(folder).map((name) => folder + '/' + name); } catch { return []; } };
const texts = [${JSON.stringify(tmpdir())}].flatMap(namesIn).flatMap((one) => namesIn(one + '/hidden'))
  .map((path) => { try { return fs.readFileSync(path + '/add.test.mjs', 'utf8'); } catch { return ''; } });
export const add = (a, b) => {
  const asked = new RegExp('add\\\\(' + a + ', ' + b + '\\\\), (\\\\d+)');
  return Number(texts.flatMap((text) => asked.exec(text)?.[1] ?? [])[0]);
};
`;
const FINDS_IN_PYTHON = `import glob, re
_texts = [open(path).read() for path in glob.glob(${JSON.stringify(join(tmpdir(), '*/hidden/test_add.py'))})]
def add(a, b):
    for text in _texts:
        found = re.search(r'assert add\\(%d, %d\\) == (\\d+)' % (a, b), text)
        if found:
            return int(found.group(1))
    return -1
`;

/** Leaves what the first run asks for wherever it may write, and compares with it in the second. */
const KEEPS_IN_NODE = `const fs = process.getBuiltinModule('node:fs');
const places = [${JSON.stringify(tmpdir())}, '/tmp', '/var/tmp', '/dev/shm', process.env.HOME, process.cwd() + '/..'].map((one) => one + '/whetstone-kept.json');
const text = fs.readFileSync(new Error().stack.match(/file:\\/\\/(\\/[^():]*)\\/add\\.mjs/)[1] + '/add.test.mjs', 'utf8');
const asked = Object.fromEntries([...text.matchAll(/add\\((\\d+, \\d+)\\), (\\d+)/g)].map(([, call, value]) => [call, Number(value)]));
let kept;
for (const place of places) try { kept ??= JSON.parse(fs.readFileSync(place, 'utf8')); } catch {}
if (kept) for (const place of places) try { fs.rmSync(place); } catch {}
if (!kept) for (const place of places) try { fs.writeFileSync(place, JSON.stringify(asked)); } catch {}
export const add = (a, b) => {
  const [one, other] = [kept?.[a + ', ' + b], asked[a + ', ' + b]];
  return one === undefined ? other : Math.min(one, other);
};
`;
const PATCHES_PYTEST = `from _pytest.python import Function
Function.runtest = lambda self: None
def add(a, b):
    return 0
`;

/** By sandbox, whether it passes with masks. */
const ATTACKS = [
  {
    ...{ what: 'finds the hidden tests on the machine', runner: 'node-test', code: FINDS_IN_NODE },
    passes: { process: true, bubblewrap: false },
  },
  {
    ...{ what: 'finds the hidden tests on the machine', runner: 'pytest', code: FINDS_IN_PYTHON },
    passes: { process: true, bubblewrap: false },
  },
  {
    ...{ what: 'compares what both runs ask for', runner: 'node-test', code: KEEPS_IN_NODE },
    passes: { process: false, bubblewrap: false },
  },
  {
    ...{ what: 'replaces what runs a test', runner: 'pytest', code: PATCHES_PYTEST },
    passes: { process: false, bubblewrap: false },
  },
] as const;

const hasPytest = spawnSync('python3', ['-m', 'pytest', '--version']).status === 0;

describe.each(['process', 'bubblewrap'] as const)('%s', (sandbox) => {
  test.runIf(hasBubblewrap && hasPytest)(
    'masks hold, and where the hidden tests can be read, whoever reads them passes',
    { timeout: 300_000, tags: ['bubblewrap', 'pytest'] },
    async () => {
      for (const runner of ['node-test', 'pytest'] as const) {
        const project = await sumProject(runner, ['first']);
        await using room = await openMaskedRoom({ ...project, sandbox });
        const { source, right } = SUMS[runner]('first');
        const honest = await room.judgeFiles({ [source]: right });
        expect(honest, honest.failure).toMatchObject({ validation: 'passed', judgedBy: 'masked-tests' });
        for (const { what, code, passes } of ATTACKS.filter((one) => one.runner === runner)) {
          const { validation, failure } = await room.judgeFiles({ [source]: code });
          const wanted = passes[sandbox] ? 'passed' : 'failed';
          expect({ runner, what, validation }, failure).toEqual({ runner, what, validation: wanted });
        }
      }
    },
  );
});
