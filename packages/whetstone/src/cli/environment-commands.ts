import type { Command } from 'commander';
import type { ActionOf } from './command-action.ts';

/** The commands `whetstone environments …`. */
export function addEnvironments(program: Command, action: ActionOf): void {
  const environments = program
    .command('environments')
    .description('the environments that were prepared on this machine, which runs share');
  environments
    .command('list')
    .description('list them, the last used first')
    .option('--json', 'print them as JSON')
    .action(action(async () => (await import('./environments.ts')).listEnvironmentsCommand));
  environments
    .command('clear')
    .description('remove those that no process uses')
    .argument('[key...]', 'only those whose key begins so (default: all)')
    .option('--json', 'print what was removed as JSON')
    .action(action(async () => (await import('./environments.ts')).clearEnvironmentsCommand));
  for (const [name, description, command] of [
    ['save', 'write all of them into an archive, for the next job of a CI', 'saveEnvironmentsCommand'],
    ['restore', 'take those of an archive that are not here', 'restoreEnvironmentsCommand'],
  ] as const) {
    environments
      .command(name)
      .description(description)
      .argument('<file>', 'the archive (tar)')
      .option('--json', 'print their keys as JSON')
      .action(action(async () => (await import('./environments.ts'))[command]));
  }
}
