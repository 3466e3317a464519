import { type Attack, replaced } from './attack.ts';

/** Looks for the report among the arguments of the runner, writes one with every test of this file, and kills the runner. */
const NODE_FORGER = `const fs = process.getBuiltinModule('node:fs');
function forge() {
  const file = process.argv[1] ?? '';
  const names = [...fs.readFileSync(file, 'utf8').matchAll(/\\b(?:test|it)\\(\\s*(['"\`])(.*?)\\1/g)].map((found) => found[2]);
  for (const pid of [process.ppid, process.pid]) {
    const [report] = fs.readFileSync('/proc/' + pid + '/cmdline', 'utf8').split('\\0').flatMap((one) => one.split('--test-reporter-destination=')[1] ?? []);
    if (!report) continue;
    const lines = names.map((name) => JSON.stringify({ type: 'test:pass', name, nesting: 0, file, kind: 'test' }));
    process.kill(pid, 'SIGSTOP');
    fs.writeFileSync(report, [...lines, JSON.stringify({ type: 'end' }), ''].join('\\n'));
    process.kill(pid, 'SIGKILL');
  }
  process.exit(0);
}
try { forge(); } catch {}`;

/** Finds the report among the open files of the runner, and its tests among its objects. */
const PYTHON_FORGER = `import gc, json, os
def _forge():
    ids = sorted({one.nodeid for one in gc.get_objects() if type(one).__name__ == 'Function' and hasattr(one, 'nodeid')})
    for number in os.listdir('/proc/self/fd'):
        try:
            if os.readlink('/proc/self/fd/' + number).endswith('/report'):
                os.ftruncate(int(number), 0)
                os.lseek(int(number), 0, 0)
                os.write(int(number), ''.join(json.dumps([one, 'call', 'passed']) + '\\n' for one in ids).encode())
                os.write(int(number), (json.dumps(['', 'end', 'passed']) + '\\n').encode())
        except OSError:
            pass
    os._exit(0)`;

/** Against the report of the runner, which shares its user with the code under test. */
export const reportAttacks: readonly Attack[] = [
  {
    name: 'forges-node-report',
    what: 'writes the report of the runner itself, and kills the runner',
    language: 'node',
    fools: ['exit-codes', 'test-report'],
    script: (target) => replaced(target, NODE_FORGER, '() => undefined'),
  },
  {
    name: 'forges-pytest-report',
    what: 'writes the report of the runner itself when a test calls the code, and ends the runner',
    language: 'python',
    fools: ['exit-codes', 'test-report'],
    script: (target) => replaced(target, PYTHON_FORGER, 'lambda *_, **__: _forge()'),
  },
];
