import { expect, test } from 'vitest';
import { simpleCommands } from './simple-commands.ts';

const lines = (command: Parameters<typeof simpleCommands>[0]) =>
  simpleCommands(command).map(({ name, arguments: args, redirections }) =>
    [
      ...[name, ...args].map(({ text, isDynamic }) => (isDynamic ? `<${text}>` : text)),
      ...redirections.map(({ text }) => `@${text}`),
    ].join(' '),
  );

test.each<[string, Parameters<typeof simpleCommands>[0], string[]]>([
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
