import { mkdtemp, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { JsonObject } from '@whetstone/events';
import { giveTree, ownerOf, removeTrees } from '@whetstone/sandbox';

/** The variable that names the file with the agent's structured answer, for commands of the clean room. */
const ANSWER_VARIABLE = 'WHETSTONE_OUTPUT_DATA';

/** Gives the structured answer of the agent to the commands of the clean room, as files. */
export type AnswerFiles = AsyncDisposable & {
  /** Writes a new file and resolves with the variable that names it; with no variable where there is no answer. */
  lay(): Promise<Record<string, string>>;
};

/** Commands run code of the agent. So each gets its own file, at a path that nothing which ran before it can know. */
export function openAnswerFiles(answer: JsonObject | undefined, scratch: string): AnswerFiles {
  const folders: string[] = [];
  return {
    async lay() {
      if (!answer) return {};
      const folder = await mkdtemp(join(scratch, 'answer-'));
      folders.push(folder);
      const file = join(folder, 'output-data.json');
      await writeFile(file, JSON.stringify(answer), { mode: 0o600 });
      await giveTree(folder, ownerOf(scratch));
      return { [ANSWER_VARIABLE]: file };
    },
    async [Symbol.asyncDispose]() {
      await removeTrees(folders);
    },
  };
}
