import { shellWord } from './shell-word.ts';

/** What a container has at a path, absolute: a folder, as a word of the shell. */
export type Mounts = Readonly<Record<string, string>>;

/**
 * A script that runs `script` in `workdir` as in a container: in a mount namespace whose root has what this machine's root has,
 * and the mounts. Exits with 126 where such a namespace cannot be made.
 */
export function inContainer(mounts: Mounts, workdir: string, script: string): string {
  const pairs = Object.entries(mounts).map(([path, folder]) => `${folder} ${shellWord(path)}`);
  return `
root=$(mktemp -d) || exit 126
unshare --user --map-root-user --mount true 2>/dev/null || { echo 'no mount namespace can be made here; it needs the sandbox "process"' >&2; exit 126; }
unshare --user --map-root-user --mount sh -c ${shellWord(LAYOUT)} sh "$root" ${pairs.join(' ')} -- ${shellWord(workdir)} ${shellWord(script)}
status=$?
rmdir "$root" 2>/dev/null
`;
}

const LAYOUT = `
root=$1; shift
prepare() {
  mount -n -t tmpfs tmpfs "$root" || return
  for each in /* /.[!.]*; do
    if [ -L "$each" ]; then cp -P "$each" "$root$each"
    elif [ -d "$each" ]; then mkdir "$root$each" && mount -n --rbind "$each" "$root$each"
    fi || return
  done
}
prepare || exit 126
while [ "$1" != -- ]; do
  mkdir -p "$root$2" && mount -n --rbind "$1" "$root$2" || exit 126
  shift 2
done
exec chroot "$root" sh -c 'cd "$1" && eval "$2"' sh "$2" "$3"
`;
