// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { simpleCommandsIn } from './simple-commands.ts';
import { fits, mayFit, UNKNOWN } from './text-pattern.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'commands-'));
  // Programs a to h, which note that they ran.
  writeFileSync(join(folder, 'note'), '#!/bin/sh\necho "${0##*/}" >> "$LOG"\n', { mode: 0o755 });
  for (const name of 'abcdefgh') symlinkSync('note', join(folder, name));
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const SCRIPTS = [
  'a && b || c; d | e & wait',
  'a $(b "$(c)") `d \\`e\\`` "x `f`"',
  '(a; { b; }) && ! c\nd # e',
  'if a; then b; elif c; then d; else e; fi; while ! b; do c; break; done',
  'for x in 1 2; do a $x; done; until a; do b; done',
  'case x in y) a ;; x) b; c ;; esac; d',
  'bash -lc \'a && sh -c "b; c"\'; /bin/sh -e -c d',
  'X=$(a) Y=1 b > /dev/null 2>&1; Z=`c`',
  'a <<EOF\n$(b)\nEOF\nc',
  "a <<'EOF'\n$(b)\nEOF\nc",
  'a <(b) >(c) 2>/dev/null; d <<< "$(e)"',
  'f2() { a; }; f2; b',
  'eval "a; b"; c',
  'env X=1 a; nohup b; command c; exec d',
  'echo x | xargs a; timeout 5 b; find . -maxdepth 0 -exec c {} \\;',
  "echo 'a;b' | bash; sh <<'X'\nc\nX",
  '"a" ; \\b ; c""; $\'d\' ; {e,1}',
  'x=${y:-$(a)}; echo "${z:=`b`}"; echo $(( $(c | wc -c) + 1 ))',
  '((a); b); c',
  'p=a; $p; ${p}; b',
  'a\\\n && b; c &> /dev/null; d |& e',
  "trap 'a' EXIT; b",
  'coproc a; time b; [[ -n "$(c)" ]] && d',
];

test('no program runs that was not read, or the script is not whole', () => {
  const programs = (script: string): string[] => {
    const log = join(folder, 'log');
    writeFileSync(log, '');
    execFileSync('bash', ['-c', script], {
      env: { PATH: `${folder}:/usr/bin:/bin`, LOG: log },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    return [...new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))].sort();
  };
  const unread = SCRIPTS.flatMap((script) => {
    const { commands, isWhole } = simpleCommandsIn(script);
    const known = commands.flatMap(({ words }) => words.map((word) => word.replace(/^.*\//, '')));
    let ran: string[];
    try {
      ran = programs(script);
    } catch {
      ran = ['(failed)'];
    }
    const missed = ran.filter(
      (name) => !known.includes(name) && !known.some((word) => word.includes(UNKNOWN)),
    );
    return isWhole && missed.length > 0 ? [{ script, missed, known }] : [];
  });
  expect(unread).toEqual([]);
});

test('the commands of a script, their redirections, and what need not be allowed', () => {
  const read = (script: string) => {
    const { commands, isWhole } = simpleCommandsIn(script);
    const shown = commands.map(
      ({ words, writes, isNeeded }) =>
        `${isNeeded ? '' : '~'}${words.join(' ')}${writes.map((file) => ` > ${file}`).join('')}`,
    );
    return [...shown, ...(isWhole ? [] : ['?'])].map((text) => text.replaceAll(UNKNOWN, '…'));
  };
  expect(read("bash -lc 'npm test'")).toEqual(['~bash -lc npm test', 'npm test']);
  expect(read("bash --rcfile x -c 'npm test'")).toEqual(['bash --rcfile x -c npm test', 'npm test']);
  expect(read('sudo git push')).toEqual(['sudo git push', '~git push', '~push']);
  expect(read('npm test $A > out.txt 2>> $B')).toEqual(['npm test … > out.txt > …']);
  expect(read('A=1 npm test')).toEqual(['A=1 npm test']);
  expect(read('> x')).toEqual([' > x']);
  for (const unsure of ['eval x', 'bash', 'echo "', 'cat <<X\n$(y)\nX', 'echo $((1 + 1))', '. ./x'])
    expect(read(unsure)).toContain('?');
});

test('a star stands for any text, also with unknown parts on the other side', () => {
  expect(fits('npm test*', 'npm test -- x')).toBe(true);
  expect(fits('npm test', 'npm test -- x')).toBe(false);
  expect(fits('*.npmjs.org', 'registry.npmjs.org')).toBe(true);
  expect(fits('a*', `${UNKNOWN}`)).toBe(false);
  expect(mayFit('git push*', `git ${UNKNOWN}`)).toBe(true);
  expect(mayFit('git push*', `git s${UNKNOWN}`)).toBe(false);
  expect(mayFit('git push*', UNKNOWN)).toBe(true);
});
