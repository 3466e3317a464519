import { LATER_PYTHON, LATER_SECONDS } from './later-date.ts';

const MOVE_CLOCK = `${LATER_PYTHON}
try:
    _is_later = move_clock(${LATER_SECONDS})
except Exception:
    _is_later = False
if not _is_later:
    report('', 'date', 'skipped')
`;

/**
 * A program that runs tests of Python and writes a line of JSON for each of their phases to the file `sys.argv[1]`.
 *
 * The tree comes onto the path only after all that decides is loaded, so a module of the tree cannot take the place of one of
 * the runner. `imports` loads the runner; `body` runs `arguments`, calls `report`, and sets `code`.
 */
export const pythonLauncher = ({
  imports,
  body,
  date = false,
}: {
  imports: string;
  body: string;
  /** A later date. Where it cannot be had, a line says so. */
  date?: boolean;
}): string => `import sys, os
import json, site, unittest, unittest.mock
# An isolated Python leaves out the packages of its user, which a set-up may have installed.
if os.path.isdir(site.getusersitepackages()):
    site.addsitedir(site.getusersitepackages())
${imports}
_out = open(sys.argv[1], 'w', buffering=1)
arguments = sys.argv[2:]
def report(*values):
    _out.write(json.dumps(values) + '\\n')
${date ? MOVE_CLOCK : ''}# Behind Python's own modules and before installed packages, among which an older copy of the tree may be.
_packages = [path for path in sys.path if 'site-packages' in path or 'dist-packages' in path]
_at = sys.path.index(_packages[0]) if _packages else len(sys.path)
sys.path.insert(_at, os.getcwd())
${body}
report('', 'end', 'passed')
sys.exit(code)
`;

/** Runs `python3`, or the virtual environment `.venv` of the tree where there is one. No variable of PYTHON counts. */
export const PYTHON_SCRIPT = 'PATH="$PWD/.venv/bin:$ROOT/.venv/bin:$PATH" exec python3 -I -B "$@"';
