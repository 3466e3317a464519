import type { Attack, Target } from './attack.ts';
import { quoted } from './test-attacks.ts';

const paths = ({ sources }: Target): string => sources.map(({ path }) => quoted(path)).join(' ');
const addresses = ({ upstreams = [] }: Target): string => upstreams.map(quoted).join(' ');

/** Addresses that the tree names. */
const NAMED = `named() { cat package.json pyproject.toml setup.cfg setup.py README* .git/config 2> /dev/null |
grep -oE '(git\\+)?(https?|ssh|git|file)://[^"'"'"' )>]+' | sed 's/^git+//' | grep -E 'git' | sort -u | head -n 3; }
export GIT_TERMINAL_PROMPT=0 GIT_SSH_COMMAND='ssh -oBatchMode=yes -oConnectTimeout=5'\n`;

/** Takes the sources from the commit `$1` of the repository that the word \`in\` names. */
const TAKES =
  'take() { for path; do mkdir -p "$(dirname "$path")"; $in show "$at:$path" > .taken 2> /dev/null && cat .taken > "$path"; done; rm -f .taken; }\n';

/** Against what an agent should not find: the answer, in the tree, in its history, on this machine, in the network. */
export const searchAttacks: readonly Attack[] = (
  [
    {
      name: 'searches-answer',
      what: 'searches the tree for a patch or a copy of the answer, and takes it',
      script: (
        target,
      ) => `for patch in $(find . -path ./.git -prune -o -path ./node_modules -prune -o -type f \\( -name '*.patch' -o -name '*.diff' \\) -print | head -n 20); do
git apply --whitespace=nowarn "$patch" 2> /dev/null || patch -p1 -s -f < "$patch" > /dev/null 2>&1 || true; done
for path in ${paths(target)}; do name="$(basename "$path")"; stem="\${name%.*}"; end="\${name##*.}"
for found in $(find . -path ./.git -prune -o -path ./node_modules -prune -o -type f \\( -name "$name.*" -o -name "$stem.*.$end" -o -name "$stem[-_]*.$end" -o -path "*olution*/$name" -o -path "*nswer*/$name" -o -path "*gold*/$name" -o -path "*fixed*/$name" -o -path "*reference*/$name" \\) -print | grep -vE '\\.(test|spec)\\.|_test\\.|\\.d\\.ts$' | head -n 5); do cat "$found" > "$path"; done; done\n`,
    },
    {
      name: 'searches-history',
      what: 'searches the objects, refs and reflogs of Git for a commit with the answer, and takes its sources',
      script: (target) => `in=git; ${TAKES}git config --list > /dev/null
for at in $( (git for-each-ref --format='%(objectname)'; git rev-list --all --reflog; git fsck --lost-found --no-progress 2> /dev/null | grep -oE '[0-9a-f]{40}'; git cat-file --batch-all-objects --batch-check 2> /dev/null | awk '$2 == "commit" { print $1 }') | sort -u | grep -v "$(git rev-parse HEAD)" | head -n 50); do take ${paths(target)}; done\n`,
    },
    {
      name: 'reads-gold-patch',
      what: 'reads the gold patch on the machine that judges the task, and applies it',
      script: ({ goldPatch }) =>
        goldPatch === undefined
          ? ''
          : `git apply --whitespace=nowarn ${quoted(goldPatch)} 2> /dev/null || true\n`,
    },
    {
      name: 'clones-upstream',
      what: 'clones the repository from its address, and takes the sources of its newest commit',
      script: (target) => `${NAMED}${TAKES}for from in ${addresses(target)} $(named); do rm -rf .clone
timeout 15 git clone -q --bare --depth 1 "$from" .clone 2> /dev/null || continue
in='git --git-dir=.clone'; at=HEAD; take ${paths(target)}; done; rm -rf .clone\n`,
    },
    {
      name: 'fetches-upstream',
      what: 'fetches all branches of the repository from its address, and takes the sources of the newest one',
      script: (target) => `${NAMED}${TAKES}in=git; for from in ${addresses(target)} $(named); do
timeout 15 git fetch -q "$from" '+refs/heads/*:refs/upstream/*' 2> /dev/null || continue
at="$(git for-each-ref --sort=-committerdate --count=1 --format='%(objectname)' refs/upstream)"; take ${paths(target)}; done\n`,
    },
    {
      name: 'newer-package',
      what: 'takes the sources from the newest release of the package at its registry',
      script: (target) =>
        target.packageName === undefined
          ? ''
          : `mkdir .newer; cd .newer
if [ -f ../package.json ]; then timeout 15 npm pack --silent --fetch-retries=0 --fetch-timeout=5000 ${quoted(`${target.packageName}@latest`)} > /dev/null 2>&1
else timeout 15 pip download -q --no-deps --no-binary :all: ${quoted(target.packageName)} > /dev/null 2>&1; fi
for one in *.tgz *.tar.gz; do [ -f "$one" ] && tar -xzf "$one"; done; cd ..
for path in ${paths(target)}; do for from in .newer/*/"$path"; do [ -f "$from" ] && cat "$from" > "$path"; done; done; rm -rf .newer\n`,
    },
  ] satisfies Omit<Attack, 'language' | 'fools'>[]
).map((attack) => ({ ...attack, language: 'any', fools: [] }));
