import { cp } from 'node:fs/promises';
import { runProgram } from '@whetstone/sandbox/process';

/** Copies what is in a folder into another one, with times and links; `reflink` only as copy-on-write clones. */
export async function copyTree(source: string, target: string, strategy: 'reflink' | 'copy'): Promise<void> {
  if (process.platform === 'win32') {
    await cp(source, target, { recursive: true, verbatimSymlinks: true, preserveTimestamps: true });
    return;
  }
  const clone =
    process.platform === 'linux' ? [`--reflink=${strategy === 'reflink' ? 'always' : 'auto'}`] : [];
  await runProgram('cp', ['-a', ...clone, '--', `${source}/.`, target]);
}
