import { readFileSync, statSync } from 'node:fs';
import { codeOf } from '@whetstone/errors';
import type { TaskConfig } from '../config/config.ts';
import { listSource } from '../config/source-tree.ts';

/** Where a canary was found: in a model request, in the changes, or in what the agent reported. */
export type Contamination = { canary: string; where: 'request' | 'patch' | 'events' };

/** `canary GUID 26b5c67b-86dc-4e62`, `canary: 6d8…`: the word, and at least 16 characters without a space. */
const CANARY = /\bcanary\b[\s:="'-]{1,4}(?:guid[\s:="'-]{1,4})?([0-9a-z-]{16,})/gi;

/** In bytes. What is larger is not searched. */
const LARGEST = 64 * 1024 * 1024;

/** The canaries in what no agent may see of a task: its hidden tests and the patch that solves it. */
export async function canariesOf({ hiddenTests, goldPatch }: TaskConfig): Promise<string[]> {
  const tests = hiddenTests === undefined ? [] : await listSource(hiddenTests);
  const files = tests.flatMap((one) => (one.kind === 'file' ? one.absolute : []));
  const texts = [...files, ...(goldPatch === undefined ? [] : [goldPatch])].map(textOf);
  return [
    ...new Set(texts.flatMap((text) => [...text.matchAll(CANARY)].flatMap(([, canary]) => canary ?? []))),
  ];
}

/** Looks for canaries in model requests while an agent runs, and afterwards in files. */
export function watchCanaries(canaries: readonly string[]) {
  const inRequests = new Set<string>();
  return {
    onRequest(body: Uint8Array): void {
      const bytes = Buffer.from(body.buffer, body.byteOffset, body.byteLength);
      for (const canary of canaries) if (bytes.includes(canary)) inRequests.add(canary);
    },
    /** What was found, with what is in these files now. */
    found(files: Readonly<Record<'patch' | 'events', string>>): Contamination[] {
      if (canaries.length === 0) return [];
      const texts = { patch: textOf(files.patch), events: textOf(files.events) };
      return canaries.flatMap((canary) => [
        ...(inRequests.has(canary) ? [{ canary, where: 'request' } as const] : []),
        ...(['patch', 'events'] as const)
          .filter((where) => texts[where].includes(canary))
          .map((where) => ({ canary, where })),
      ]);
    },
  };
}

function textOf(file: string): string {
  try {
    return statSync(file).size > LARGEST ? '' : readFileSync(file, 'latin1');
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return '';
    throw error;
  }
}
