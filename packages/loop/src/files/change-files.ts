import { messageOf } from '@whetstone/errors';
import { isJsonObject } from '@whetstone/events/json';
import { displayPath, pathsOf, resolvePath } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { canonicalPath, describeFailure, refuseEmpty, refuseSpecial } from './file-access.ts';

/** A new content of a file, or its end. */
export type FileChange =
  | {
      kind: 'write';
      path: string;
      content: Uint8Array;
      /** Permission bits of a new file; an existing one keeps its own. */
      mode?: number | undefined;
      /** What the content was made from. Where the file has something else by now, the change is refused. */
      read?: Uint8Array;
    }
  | { kind: 'remove'; path: string };

/** `commit` leaves the file as it was if it throws. `undo` takes a commit back; `clean` is called at the end. */
type Step = { path: string; commit(): Promise<void>; undo(): Promise<void>; clean(): Promise<void> };

/**
 * Makes all changes, or none: if one fails, those before it are taken back, and so are the folders that were made. If a
 * file cannot be restored, the error names it.
 *
 * A file is written beside its place and renamed into it, so that nobody sees half of it. An existing file is written in
 * place where a rename would lose its owner, its permissions, its extended attributes or its hard links, and where one
 * is refused, as over a mount. A symbolic link stays one.
 */
export async function changeFiles(
  environment: ExecutionEnvironment,
  changes: readonly FileChange[],
): Promise<void> {
  const steps: Step[] = [];
  const done: Step[] = [];
  try {
    for (const change of changes) steps.push(await prepare(environment, change));
    for (const step of steps) {
      await named(environment, step.path, step.commit);
      done.unshift(step);
    }
  } catch (error) {
    const stuck: string[] = [];
    for (const step of done) await step.undo().catch(() => stuck.push(step.path));
    if (stuck.length === 0) throw error;
    const rest = `These files are changed, because their old content could not be restored: ${stuck.join(', ')}.`;
    throw new Error(`${messageOf(error)}. ${rest}`, { cause: error });
  } finally {
    for (const step of steps) await step.clean().catch(() => {});
  }
}

/** Writes the whole content of one file. `read` is what the content was made from. */
export async function replaceFile(
  environment: ExecutionEnvironment,
  path: string,
  content: Uint8Array,
  read?: Uint8Array,
): Promise<void> {
  await changeFiles(environment, [{ kind: 'write', path, content, ...(read && { read }) }]);
}

async function prepare(environment: ExecutionEnvironment, change: FileChange): Promise<Step> {
  const { path } = change;
  refuseEmpty(path);
  const absolute = resolvePath(environment, path);
  if (change.kind === 'remove') return removal(environment, path, absolute);
  const existing = await named(environment, path, () => environment.stat(absolute));
  if (existing) refuseSpecial(existing, path);
  return await named(environment, path, async () => {
    if (existing) return await overwriting(environment, change, absolute);
    if (await isLink(environment, absolute)) return throughLink(environment, change, absolute);
    return await creation(environment, change);
  });
}

async function overwriting(
  environment: ExecutionEnvironment,
  { path, content, read }: Extract<FileChange, { kind: 'write' }>,
  absolute: string,
): Promise<Step> {
  const before = read ?? (await environment.readBytes(absolute));
  const target = await environment.realpath(absolute);
  const copy = await stageCopy(environment, target, content);
  const restore = async () => {
    if (!sameBytes(await environment.readBytes(absolute), before))
      await environment.writeBytes(absolute, before);
  };
  return {
    path,
    commit: async () => {
      if (read) await refuseStale(environment, absolute, read);
      if (copy !== undefined && (await succeeds(environment.rename(copy, target)))) return;
      try {
        await environment.writeBytes(absolute, content);
      } catch (error) {
        await restore().catch(() => {
          throw new Error(`${messageOf(error)}. The file is damaged: its old content could not be restored`);
        });
        throw error;
      }
    },
    undo: restore,
    clean: async () => {
      if (copy !== undefined) await environment.remove(copy);
    },
  };
}

/** A copy of a file beside it, with another content. `undefined` where the copy would not be the same to others. */
async function stageCopy(
  environment: ExecutionEnvironment,
  target: string,
  content: Uint8Array,
): Promise<string | undefined> {
  if (!environment.copyAttributes) return undefined;
  const copy = temporaryIn(environment, pathsOf(environment).dirname(target));
  const isSame = await environment.copyAttributes(target, copy).catch(() => false);
  if (isSame && (await succeeds(environment.writeBytes(copy, content)))) return copy;
  await environment.remove(copy).catch(() => {});
  return undefined;
}

const succeeds = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  );

async function creation(
  environment: ExecutionEnvironment,
  { path, content, mode }: Extract<FileChange, { kind: 'write' }>,
): Promise<Step> {
  const paths = pathsOf(environment);
  const target = await canonicalPath(environment, path);
  const missing: string[] = [];
  let folder = paths.dirname(target);
  let there = await environment.stat(folder);
  for (; !there; there = await environment.stat(folder)) {
    missing.unshift(folder);
    folder = paths.dirname(folder);
  }
  if (there.kind !== 'directory') throw new Error(`${displayPath(environment, folder)} is not a folder`);
  const temporary = temporaryIn(environment, folder);
  const clean = () => environment.remove(temporary);
  try {
    await environment.writeBytes(temporary, content, mode === undefined ? {} : { mode });
  } catch (error) {
    await clean().catch(() => {});
    throw error;
  }
  const removeFolders = async () => {
    for (const made of missing.toReversed()) await environment.removeDirectory?.(made);
  };
  return {
    path,
    commit: async () => {
      try {
        await environment.mkdirp(paths.dirname(target));
        await environment.rename(temporary, target);
      } catch (error) {
        await removeFolders().catch(() => {});
        throw error;
      }
    },
    undo: async () => {
      await environment.remove(target);
      // A folder that somebody else has used by now stays.
      await removeFolders().catch(() => {});
    },
    clean,
  };
}

/** A link to what does not exist: writing through it makes its target. An environment cannot say where that would be. */
function throughLink(
  environment: ExecutionEnvironment,
  { path, content, mode }: Extract<FileChange, { kind: 'write' }>,
  absolute: string,
): Step {
  return {
    path,
    commit: async () => {
      try {
        await environment.writeBytes(absolute, content, mode === undefined ? {} : { mode });
      } catch (error) {
        if (!isJsonObject(error) || error.code !== 'ENOENT') throw error;
        throw new Error('is a symbolic link into a folder that does not exist. Make the folder first', {
          cause: error,
        });
      }
    },
    undo: async () => await environment.remove(await environment.realpath(absolute)),
    clean: async () => {},
  };
}

/** The file waits under another name until every change has succeeded. */
function removal(environment: ExecutionEnvironment, path: string, absolute: string): Step {
  const temporary = temporaryIn(environment, pathsOf(environment).dirname(absolute));
  return {
    path,
    commit: () => environment.rename(absolute, temporary),
    undo: () => environment.rename(temporary, absolute),
    clean: () => environment.remove(temporary),
  };
}

function temporaryIn(environment: ExecutionEnvironment, folder: string): string {
  return pathsOf(environment).join(folder, `.${crypto.randomUUID()}.tmp`);
}

async function isLink(environment: ExecutionEnvironment, absolute: string): Promise<boolean> {
  const paths = pathsOf(environment);
  const entries = await environment.listDirectory(paths.dirname(absolute)).catch(() => []);
  const name = paths.basename(absolute);
  return entries.some((entry) => entry.kind === 'symlink' && entry.name === name);
}

/** Somebody else may have written since the file was read: an edit of what was read would undo that. */
async function refuseStale(
  environment: ExecutionEnvironment,
  absolute: string,
  read: Uint8Array,
): Promise<void> {
  const now = await environment.readBytes(absolute);
  if (sameBytes(now, read)) return;
  // Loaded on use: few edits meet another one.
  const { createTwoFilesPatch } = await import('diff');
  const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);
  const diff = createTwoFilesPatch('as it was read', 'as it is now', text(read), text(now), '', '', {
    context: 1,
  });
  throw new Error(
    `was changed by somebody else while it was edited. Nothing was written. Edit it as it is now:\n${diff}`,
  );
}

function sameBytes(left: Uint8Array, right: Uint8Array): boolean {
  return Buffer.compare(left, right) === 0;
}

async function named<T>(environment: ExecutionEnvironment, path: string, work: () => Promise<T>): Promise<T> {
  try {
    return await work();
  } catch (error) {
    throw new Error(`${displayPath(environment, path)}: ${describeFailure(error)}`, { cause: error });
  }
}
