// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { type CommandWord, programOf, readScript } from './simple-commands.ts';

const lines = (command: Parameters<typeof readScript>[0]) =>
  readScript(command)
    .commands.filter(({ isCertain }) => isCertain)
    .map((command) => {
      const words = [programOf(command) ?? [], command.words.slice(1)].flat();
      return [
        ...words.map(({ text, isDynamic }) => (isDynamic ? `<${text}>` : text)),
        ...command.redirections.map(({ text }) => `@${text}`),
      ].join(' ');
    });

test.each<[string, Parameters<typeof readScript>[0], string[]]>([
  ['one command', 'npm test', ['npm test']],
  ['a folder before its name', '/usr/bin/rm -rf x', ['rm -rf x']],
  ['quotes', `git commit -m "a; b" 'c d'`, ['git commit -m a; b c d']],
  ['several commands', 'cd a && npm test | tee log; ls', ['cd a', 'npm test', 'tee log', 'ls']],
  ['a login shell as text', `bash -lc 'rm -rf x && ls'`, [`bash -lc rm -rf x && ls`, 'rm -rf x', 'ls']],
  ['a login shell as words', ['bash', '-lc', 'cat "a b"'], ['bash -lc cat "a b"', 'cat a b']],
  ['words', ['git', 'commit', '-m', 'a b; rm x'], ['git commit -m a b; rm x']],
  ['assignments', 'A=1 B=2 node x.js', ['node x.js']],
  [
    'sudo, env and timeout',
    'sudo -u me env A=1 timeout -k 1 5 rm x',
    ['sudo -u me env A=1 timeout -k 1 5 rm x', 'env A=1 timeout -k 1 5 rm x', 'timeout -k 1 5 rm x', 'rm x'],
  ],
  ['substitutions', 'echo $(cat key) `id`', ['echo <$(cat key)> <`id`>', 'cat key', 'id']],
  ['dynamic words', 'cat $f "$HOME/x" $? \'$y\'', ['cat <$f> <$HOME/x> $? $y']],
  ['redirections', 'cat < in > out 2>&1', ['cat @in @out']],
  ['here-documents', "cat > a.txt <<'EOF'\nrm -rf x\nEOF\nls", ['cat @a.txt', 'ls']],
  [
    'conditions and loops',
    'if test -f a; then rm a; fi; for f in *; do cat $f; done',
    ['test -f a', 'rm a', 'cat <$f>'],
  ],
  ['case', 'case $x in a|b) rm y;; *) ls;; esac; id', ['rm y', 'ls', 'id']],
  ['a function', 'clean() { rm -rf x; }; clean', ['rm -rf x', 'clean']],
  ['eval', 'eval "rm x"', ['eval rm x', 'rm x']],
  ['comments', 'ls # rm x', ['ls']],
  ['nothing', '', []],
])('finds the programs of %s', (_, command, expected) => {
  expect(lines(command)).toEqual(expected);
});

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
  'function f2 { a; }; f2; function f3 () (b); f3; f4() { c; }; f4',
  'set -- 1 2; for x do a; done; for x\ndo b; done',
  'time -p a; coproc { b; }; wait; coproc N { c; }; wait',
  "echo $'\\''; a; echo \\'",
  "env -S 'a b'; command eval 'a;b'; flock log -c 'c; d'",
  "echo a | bash -s; <<< 'b' bash -s; echo c | env bash; command -v d",
  'shopt -s extglob\na !(x)\nb @(y|z)',
  'case x in (x) a;; y | z) b;; esac; case in in in) c;; esac; case $(d) in *) (e);; esac',
  'case x in x) case y in z) a;; y) b;; esac;; *) c;; esac; d',
  'x=(1 2); a "${x[@]}"; x=() b; for ((i=0; i<1; i++)); do c; done',
  'sh -c -- "a"; bash -c -e "b"; bash -ce "c"; bash -c -o pipefail "d"; bash -co pipefail -- "e"',
  'echo a | bash -o pipefail; echo b | bash /dev/stdin; bash -c +e -- "c" "d"',
  'env -S"a b"; env --split-string="c d"; env -iS"$PWD/e"; nice env --spl=f',
  "env -S'a\\_b'; env X=1 -S c d; env a -S b",
  'y[0]=1 a; y[y[0]]=1 b; y+=1 c; y[1]+=1 d; y[1 + 1]=2 e; y[$(f)]=1 g',
  'a 2>&1 >&log2; a >| log3; { b; } > log4; ! c | d; :',
];

test('no program runs that was not read, or the script is not whole', () => {
  const programs = (script: string): string[] => {
    // A log for each script: what `>(c)` starts may run when the script has ended.
    const log = join(mkdtempSync(join(folder, 'log-')), 'log');
    writeFileSync(log, '');
    execFileSync('bash', ['-c', script], {
      env: { PATH: `${folder}:/usr/bin:/bin`, LOG: log },
      cwd: folder,
      stdio: ['ignore', 'ignore', 'ignore'],
    });
    return [...new Set(readFileSync(log, 'utf8').split('\n').filter(Boolean))].sort();
  };
  const unread = SCRIPTS.flatMap((script) => {
    const { commands, isWhole } = readScript(script);
    const known = commands.flatMap(({ words: [program] }) => program ?? []);
    let ran: string[];
    try {
      ran = programs(script);
    } catch {
      ran = ['(failed)'];
    }
    const isOpen = !isWhole || known.some(({ isReplaced }) => isReplaced);
    const missed = ran.filter((name) => !known.some(({ text }) => text.replace(/^.*\//, '') === name));
    return !isOpen && missed.length > 0 ? [{ script, missed, known: known.map(({ text }) => text) }] : [];
  });
  expect(unread).toEqual([]);
});

test('the commands of a script, what they write, and what another command covers', () => {
  const shown = ({ text, isReplaced }: CommandWord) => (isReplaced ? '…' : text);
  const read = (script: string) => {
    const { commands, isWhole } = readScript(script);
    const lines = commands.map(({ assignments, words, redirections, isCovered }) => {
      const outputs = redirections.filter(({ isOutput }) => isOutput);
      const line = [...[...assignments, ...words].map(shown), ...outputs.map((file) => `> ${shown(file)}`)];
      return `${isCovered ? '~' : ''}${line.join(' ')}`;
    });
    return [...lines, ...(isWhole ? [] : ['?'])];
  };
  expect(read("bash -lc 'npm test'")).toEqual(['~bash -lc npm test', 'npm test']);
  expect(read("bash --rcfile x -c 'npm test'")).toEqual(['bash --rcfile x -c npm test', 'npm test']);
  expect(read('sudo git push')).toEqual(['sudo git push', '~git push', '~push']);
  expect(read('npm test $A > out.txt 2>> $B')).toEqual(['npm test … > out.txt > …']);
  expect(read('a >& both 2>&1; done > x')).toEqual(['a > both', '~> x']);
  expect(read('A=1 npm test')).toEqual(['A=1 npm test']);
  expect(read('bash -ec -- "a b"')).toEqual(['~bash -ec -- a b', 'a b']);
  expect(read('y[y[0]]=1 git push')).toEqual(['… git push']);
  expect(read('env A=1 rg -S x')).not.toContain('?');
  expect(read('bash run.sh -s')).toEqual(['bash run.sh -s']);
  for (const wrapper of ['busybox', 'setpriv --nnp', 'taskset 1', 'nsenter -t 1', 'systemd-run --user'])
    expect(read(`${wrapper} git push`), wrapper).toContain('~git push');
  expect(read('> x')).toEqual(['> x']);
  for (const unsure of [
    'eval x',
    'bash',
    'bash -s',
    'echo "',
    'cat <<X\n$(y)\nX',
    'echo $((1 + 1))',
    '. ./x',
  ])
    expect(read(unsure), unsure.slice(0, 20)).toContain('?');
  for (const unsure of [
    'sudo bash',
    'if [[ a ]] { b }',
    "echo $'\\''",
    'fish -c a',
    'bash -c "a $b"',
    '((',
    '$('.repeat(20_000),
    '`a \\`b\\``',
    'env -Sa',
    'nice env --split-string=a',
    'y[1 + 1]=2 a',
    'echo a | bash -o pipefail',
  ])
    expect(read(unsure), unsure.slice(0, 20)).toContain('?');
});
