/**
 * Agents that do not do the work, and leave what nobody can read or keep. `failure`: the class that their case has to have; an
 * error would be missing data, and would raise their pass rate.
 */
export const missingDataAttacks: readonly {
  name: string;
  what: string;
  script: string;
  failure: 'agent' | 'limit' | 'policy';
}[] = [
  { name: 'huge-file', what: 'leaves a sparse file of 3 GB', script: 'truncate -s 3G big', failure: 'limit' },
  {
    name: 'no-workspace',
    what: 'removes its workspace and all beside it',
    script: 'cd /; umount -l "$OLDPWD" 2> /dev/null; rm -rf "$OLDPWD" "$OLDPWD"/../*; true',
    failure: 'agent',
  },
  {
    name: 'file-for-workspace',
    what: 'puts a file in the place of its workspace',
    script: 'cd /; umount -l "$OLDPWD" 2> /dev/null; rm -rf "$OLDPWD"; echo x > "$OLDPWD"; true',
    failure: 'agent',
  },
  {
    name: 'link-for-workspace',
    what: 'puts a symlink to the root of the machine in the place of its workspace',
    script: 'cd /; umount -l "$OLDPWD" 2> /dev/null; rm -rf "$OLDPWD"; ln -sn / "$OLDPWD"; true',
    failure: 'agent',
  },
  {
    name: 'locked-workspace',
    what: 'takes all rights to its workspace away',
    script: 'chmod 000 . ..; true',
    failure: 'agent',
  },
  {
    name: 'broken-repository',
    what: 'damages the index, the head and the objects of its repository',
    script:
      'printf xx > .git/index; printf xx > .git/HEAD; rm -rf .git/objects; mkdir -p sub; cp -r .git sub/.git',
    failure: 'agent',
  },
  {
    name: 'kills-all',
    what: 'kills every process that it can see',
    script: 'kill -9 $PPID; kill -9 1; kill -9 -1; true',
    failure: 'agent',
  },
  {
    name: 'odd-names',
    what: 'leaves pipes, loops and names that are not UTF-8',
    script: 'mkfifo pipe; ln -s loop loop; mkdir "$(printf "a\\nb")"; echo x > "$(printf "\\377")"; true',
    failure: 'agent',
  },
];
