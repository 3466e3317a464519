import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { removeTrees } from '@whetstone/sandbox';

/** Where a command of the clean room finds the answer that the task's `output_schema` asked for. */
const ANSWER_VARIABLE = 'WHETSTONE_OUTPUT_DATA';

/** The agent's structured answer, as a file for the commands that judge. */
export type AnswerFiles = AsyncDisposable & {
  /** Lays a new file and resolves with the variable that names it: nothing where there is no answer. */
  lay(): Promise<Record<string, string>>;
};

/** Commands run the agent's code: each gets a file at a place of its own, which nothing that ran before it can know. */
export function openAnswerFiles(answer: JsonObject | undefined, scratch: string): AnswerFiles {
  const folders: string[] = [];
  return {
    async lay() {
      if (!answer) return {};
      const folder = await mkdtemp(join(scratch, 'answer-'));
      folders.push(folder);
      const file = join(folder, 'output-data.json');
      await writeFile(file, JSON.stringify(answer), { mode: 0o600 });
      return { [ANSWER_VARIABLE]: file };
    },
    async [Symbol.asyncDispose]() {
      await removeTrees(folders);
    },
  };
}
