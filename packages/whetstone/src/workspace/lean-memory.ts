/**
 * The allocator of glibc keeps what was freed, unless a block was large enough to be mapped for itself. By default such a
 * block has 128 KiB and, later, up to 32 MiB; the body of a model call is smaller. With this variable, read when a
 * program starts, the kernel has the memory of a burst of calls back as soon as it is freed. Other allocators ignore it.
 */
const SETTING = 'MALLOC_MMAP_THRESHOLD_';
/** Blocks of V8's compilers have up to 32 KiB and are freed at once. To map each of them costs CPU: docs/decisions.md. */
const BYTES = String(33 * 1024);

/** Set when this process was started so. Both variables are removed at once, so that no child reads them. */
const MARKER = 'WHETSTONE_LEAN_MEMORY';
const isLean = process.env[MARKER] !== undefined;
if (isLean) delete process.env[SETTING];
delete process.env[MARKER];

/** What to add to the environment of a process that replaces this one. Nothing where the user has set it. */
export function leanEnvironment(): Record<string, string> {
  return process.env[SETTING] === undefined ? { [SETTING]: BYTES, [MARKER]: '1' } : {};
}

/**
 * Restarts the process, with the same id, unless it is lean. Call it first: nothing may be open yet. `argv`: what follows
 * the executable, with the options of Node.
 */
export function restartLean(argv: readonly string[] = [...process.execArgv, ...process.argv.slice(1)]): void {
  const added = leanEnvironment();
  if (isLean || process.platform !== 'linux' || Object.keys(added).length === 0) return;
  process.execve?.(process.execPath, [process.execPath, ...argv], { ...process.env, ...added });
}
