import { type Command, InvalidArgumentError } from 'commander';
import { AUDIT_PARTS, type AuditPart } from '../audit/audit-parts.ts';
import type { ActionOf } from './command-action.ts';
import { collect, positiveInteger } from './option-values.ts';
import { beforeWork, prepareOption, setupTimeoutOption } from './tasks-commands.ts';

/** The commands `whetstone audit …`. */
export function addAudit(program: Command, action: ActionOf): void {
  const audit = program
    .command('audit')
    .description('play cheats, wrong and right solutions on a suite: how far can its verdicts be believed?')
    .argument('[config]', 'a config file, or a folder of tasks (default: as for tasks check)')
    .option('--task <id>', 'only this task (repeatable)', collect, [])
    .option('--only <parts>', `only these, separated by commas: ${AUDIT_PARTS.join(', ')}`, parts)
    .option('--cheat <name>', 'only this cheat (repeatable)', collect, [])
    .option('--repeat <n>', 'how often the solved and the unchanged tree are graded', positiveInteger, 3)
    .option('--mutants <n>', 'most mutants per task', positiveInteger, 20)
    .option('--jobs <n>', 'gradings at the same time', positiveInteger, 1)
    .option('--fresh', 'grade again what an earlier audit of the same content has graded')
    .option('--tasks <file>', 'task file to use instead of the config’s')
    .option('--repo <path>', 'the repository of a folder of tasks', '.')
    .addOption(prepareOption('as for `tasks check`'))
    .addOption(setupTimeoutOption())
    .option('--junit <file>', 'also write the result as JUnit XML')
    .option('--out <dir>', 'where to keep it (default: the folder of runs)')
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./audit.ts')).auditCommand));
  audit
    .command('agent')
    .description('run agents on tasks in which what they read asks for what the user did not')
    .argument('[config]', 'a config file with the agents (default: as for run)')
    .option('--agent <name>', 'only this agent (repeatable)', collect, [])
    .option('--scenario <name>', 'only this attack (repeatable)', collect, [])
    .option('--jobs <n>', 'cases at the same time', positiveInteger, 1)
    .option('--json', 'print the result as JSON')
    .hook('preAction', beforeWork)
    .action(action(async () => (await import('./audit-agent.ts')).auditAgentCommand));
}

function parts(value: string): AuditPart[] {
  const named = value.split(',').map((part) => part.trim());
  const known = AUDIT_PARTS.filter((part) => named.includes(part));
  const unknown = named.filter((part) => !(AUDIT_PARTS as readonly string[]).includes(part));
  if (unknown.length > 0 || known.length === 0)
    throw new InvalidArgumentError(`It must be some of ${AUDIT_PARTS.join(', ')}, separated by commas.`);
  return known;
}
