import { dirname } from 'node:path';
import type { Turn } from '@whetstone/agents';
import type { Command } from '@whetstone/agents/config';
import type { CheckResult, CleanRoomCheck } from '../eval/protocol.ts';
import { type CaseLayout, checkFolder } from '../record/layout.ts';
import { verify } from '../verify/verify.ts';
import type { Changes, Workspace } from '../workspace/workspace.ts';
import type { Attempt, Lab, Trace, Workplace } from './lab.ts';
import { openO11yFolder } from './o11y-folder.ts';

type CheckedWork = {
  workplace: Workplace;
  workspace: Workspace;
  files: CaseLayout;
  changes: () => Promise<Changes | undefined>;
};

/**
 * Runs the tests or a script of package.json in a clean room, on the changes so far, as `t.testsPassed()` and
 * `t.scriptPassed()` ask. Each gets its own clean room, and its logs are kept with the case.
 */
export function evalChecks(
  { task, signal }: Pick<Attempt, 'task' | 'signal'>,
  lab: Pick<Lab, 'scratch' | 'mask'>,
  trace: Pick<Trace, 'checks'> & { turns: readonly Pick<Turn, 'events'>[] },
  { workplace, workspace, files, changes }: CheckedWork,
): (what: CleanRoomCheck) => Promise<CheckResult> {
  return async (what) => {
    const number = trace.checks.push([]);
    const found = await changes();
    if (!found) return { status: 'broken', message: 'the agent has no workspace' };
    await using o11y = await openO11yFolder(
      trace.turns.flatMap(({ events }) => events),
      lab,
    );
    const { hardEvaluation: _, ...rest } = task;
    const { commands, broken, failure } = await verify({
      task: {
        ...rest,
        validation: { commands: [commandOf(what, task.eval?.tests ?? task.validation.commands[0])] },
      },
      snapshot: workspace.snapshot,
      changes: found,
      agentCompleted: true,
      ...workplace,
      directory: checkFolder(dirname(files.verify), number),
      mask: lab.mask,
      signal,
      beside: o11y.path,
    });
    const ran = commands.at(-1);
    trace.checks[number - 1] = commands;
    if (broken) return { status: 'broken', message: broken.evidence };
    const message = failure ?? `${ran?.command ?? 'the check'} exited 0`;
    return { status: failure === undefined ? 'passed' : 'failed', message };
  };
}

function commandOf(what: CleanRoomCheck, tests: Command | undefined): Command {
  if ('script' in what) return { kind: 'argv', argv: ['npm', 'run', '--silent', what.script] };
  return tests ?? { kind: 'argv', argv: ['npm', 'test', '--silent'] };
}
