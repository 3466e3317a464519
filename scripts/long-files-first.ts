import { relative } from 'node:path';
import { BaseSequencer, type TestSpecification } from 'vitest/node';

/**
 * The test files that take longest, longest first, in each of the suites. Vitest starts large files first until it knows
 * their times, and in a fresh clone it knows none: a small file that takes half a minute would start last, and every
 * other worker would wait for it.
 */
export const longFiles: readonly string[] = [
  'packages/agents/src/contract/agent-contract.test.ts',
  'packages/sandbox/src/sandboxes.test.ts',
  'packages/loop/src/session/invariants.test.ts',
  'packages/whetstone/src/cli/exp.test.ts',
  'packages/whetstone/src/cli/gateway.test.ts',
  'packages/agents/src/command/injection.test.ts',
  'packages/loop/src/environment/conformance.test.ts',
  'packages/whetstone/src/workspace/mount-namespace.test.ts',
  'packages/whetstone/src/cli/run-parents.test.ts',
  'packages/whetstone/src/attempt/outcomes.test.ts',
  'packages/agents/src/module/shared/shared.test.ts',
  'packages/agents/src/loop/sandbox-environment.test.ts',
  'packages/whetstone/src/tasks/mine.slow.test.ts',
  'packages/whetstone/src/verify/masks/masks.slow.test.ts',
  'packages/view/src/page.slow.test.ts',
  'packages/whetstone/src/cli/tasks-harbor.slow.test.ts',
  'packages/whetstone/src/cli/try.slow.test.ts',
  'packages/loop/src/session/invariants.slow.test.ts',
  'packages/whetstone/src/cli/audit.slow.test.ts',
  'scripts/site/site.slow.test.ts',
  'examples/real-agents/faults.agents.test.ts',
  'examples/real-agents/acp.agents.test.ts',
  'examples/real-agents/instruction-files.agents.test.ts',
  'examples/real-agents/replay.agents.test.ts',
  'examples/real-agents/real-agents.agents.test.ts',
  'examples/real-agents/instructions-above.agents.test.ts',
  'examples/real-agents/matrix.agents.test.ts',
  'packages/whetstone/src/cli/run-instructions.agents.test.ts',
  'examples/real-agents/script-run.agents.test.ts',
  'packages/whetstone/src/cli/run-context.agents.test.ts',
  'examples/real-agents/promptfoo.agents.test.ts',
  'examples/real-agents/follow-ups.agents.test.ts',
  'packages/agents/src/contract/agent-contract.agents.test.ts',
  'examples/real-agents/permissions.agents.test.ts',
  'examples/real-agents/faulty-run.agents.test.ts',
  'examples/real-agents/structured-output.agents.test.ts',
  'examples/real-agents/sealed.agents.test.ts',
];

export class LongFilesFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    return (await super.sort(files)).sort((a, b) => this.#rank(a) - this.#rank(b));
  }

  /** `--shard 1/2` takes every second file, so that the long ones are shared out. */
  override async shard(files: TestSpecification[]): Promise<TestSpecification[]> {
    const { index, count } = this.ctx.config.shard ?? { index: 1, count: 1 };
    return files
      .toSorted((a, b) => this.#rank(a) - this.#rank(b) || (a.moduleId < b.moduleId ? -1 : 1))
      .filter((_, place) => place % count === index - 1);
  }

  #rank({ moduleId }: TestSpecification): number {
    const place = longFiles.indexOf(relative(this.ctx.config.root, moduleId));
    return place === -1 ? longFiles.length : place;
  }
}
