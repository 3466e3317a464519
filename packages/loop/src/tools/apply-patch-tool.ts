import { messageOf } from '@whetstone/errors';
import { applyPatch, type PatchChange } from '../apply-patch/apply-patch.ts';
import { patchGrammar } from '../apply-patch/grammar.ts';
import type { ExecutionEnvironment } from '../environment/execution-environment.ts';
import { defineTool, type ToolOutput } from './tool.ts';

/** Edits files with a patch (loop spec 3.4 and appendix A), the native editing format of OpenAI's models. */
export const applyPatchTool = defineTool<{ patch: string }>({
  definition: {
    type: 'freeform',
    name: 'apply_patch',
    description:
      'Adds, deletes, updates and moves files with one patch. The patch is applied as a whole or not at all. ' +
      'Write the patch itself, from "*** Begin Patch" to "*** End Patch", not JSON.',
    grammar: { syntax: 'lark', definition: patchGrammar },
    argument: { name: 'patch', description: 'The patch, from "*** Begin Patch" to "*** End Patch"' },
  },
  guidance: 'for every change to existing files; one patch may change several.',
  executor: ({ patch }, { environment }) => applyPatchForModel(environment, patch),
});

/** Applies a patch and reports what has changed. A patch that is refused is an error result. */
export async function applyPatchForModel(
  environment: ExecutionEnvironment,
  patch: string,
): Promise<Exclude<ToolOutput, string>> {
  try {
    const { changes, notes } = await applyPatch(environment, patch);
    const lines = ['Success. Updated the following files:', ...inOrder(changes).map(describe), ...notes];
    return { content: lines.join('\n'), details: { changes } };
  } catch (error) {
    return { content: `apply_patch verification failed: ${messageOf(error)}`, isError: true };
  }
}

const LETTERS = { added: 'A', modified: 'M', renamed: 'M', deleted: 'D' } as const;

function inOrder(changes: readonly PatchChange[]): PatchChange[] {
  return changes.toSorted(
    (left, right) => 'AMD'.indexOf(LETTERS[left.change]) - 'AMD'.indexOf(LETTERS[right.change]),
  );
}

function describe({ change, path }: PatchChange): string {
  return `${LETTERS[change]} ${path}`;
}
