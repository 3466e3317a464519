import { pathsOf } from '../environment/environment-path.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { findGitRoot } from '../files/file-access.ts';
import { startsAsUtf16 } from '../files/text-file.ts';

/** A file with instructions of the project, for example its AGENTS.md. */
export type ProjectDocument = {
  /** Absolute, in the environment. */
  path: string;
  text: string;
};

const BUDGET_BYTES = 32 * 1024;
const TRUNCATION_MARK = '[Project instructions truncated at 32KB]';

/**
 * The instruction files from the git root (the working folder where there is none) down to the working folder, root
 * first, because the deeper one has precedence (loop spec 6.5). The budget of 32 KiB is filled from the deepest up, so
 * that what has precedence is not what gets cut. A file that is reached by two names counts once, and a blank one not.
 */
export async function findProjectDocuments(
  environment: ExecutionEnvironment,
  names: readonly string[],
): Promise<ProjectDocument[]> {
  const paths = pathsOf(environment);
  const seen = new Set<string>();
  const documents: ProjectDocument[] = [];
  let budget = BUDGET_BYTES;
  for (const folder of await foldersDeepestFirst(environment)) {
    const here: ProjectDocument[] = [];
    for (const name of names) {
      const path = paths.join(folder, name);
      const content = await readOnce(environment, path, seen);
      if (content === undefined) continue;
      const text = decode(content, budget);
      if (text === '') continue;
      here.push({ path, text });
      budget = Math.max(0, budget - content.length);
    }
    documents.unshift(...here);
  }
  return documents;
}

async function foldersDeepestFirst(environment: ExecutionEnvironment): Promise<string[]> {
  const paths = pathsOf(environment);
  const workingDirectory = environment.workingDirectory();
  const root = (await findGitRoot(environment, workingDirectory)) ?? workingDirectory;
  const folders = [workingDirectory];
  for (let folder = workingDirectory; folder !== root && folder !== paths.dirname(folder); ) {
    folder = paths.dirname(folder);
    folders.push(folder);
  }
  return folders;
}

async function readOnce(
  environment: ExecutionEnvironment,
  path: string,
  seen: Set<string>,
): Promise<Uint8Array | undefined> {
  try {
    const found = await environment.stat(path);
    if (found?.kind !== 'file') return undefined;
    const real = await environment.realpath(path);
    if (seen.has(real)) return undefined;
    seen.add(real);
    return await environment.readBytes(real);
  } catch {
    // An unreadable instruction file must not keep the session from starting.
    return undefined;
  }
}

function decode(content: Uint8Array, budget: number): string {
  const encoding = startsAsUtf16(content) ? 'utf-16le' : 'utf-8';
  const text = (bytes: Uint8Array, isWhole: boolean) =>
    new TextDecoder(encoding).decode(bytes, { stream: !isWhole });
  const whole = text(content, true).trim();
  if (content.length <= budget || whole === '') return whole;
  return `${text(content.subarray(0, budget), false)}\n${TRUNCATION_MARK}`.trim();
}
