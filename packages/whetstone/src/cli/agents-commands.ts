import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';

/** The commands `whetstone agents …`. */
export function addAgents(program: Command, action: ActionOf): void {
  const agents = program
    .command('agents')
    .description(
      'list, check and install released coding agents, parse their output, capture what they send',
    );
  agents
    .command('list')
    .description('list the agents that Whetstone drives itself, and where they are on this machine')
    .option('--json', 'print them as JSON')
    .action(action(async () => (await import('./agents-list.ts')).listCommand));
  agents
    .command('install')
    .description('install a released agent into your cache folder, for use by Whetstone only')
    .argument('<agent...>', 'KIND or KIND@VERSION (default: the version that is tested)')
    .option('--json', 'print one JSON line per agent')
    .action(action(async () => (await import('./agents-install.ts')).installCommand));
  agents
    .command('doctor')
    .description('check what agents need on this machine: programs, versions, keys, sandbox; changes nothing')
    .option('--json', 'print the checks as JSON')
    .action(action(async () => (await import('./agents-doctor.ts')).doctorCommand));
  agents
    .command('matrix')
    .description('show what each kind of agent can do: context, permissions, sessions, sign-in, traces')
    .argument('[kind...]', 'only these kinds (default: all)')
    .option('--json', 'print the matrix as JSON')
    .action(action(async () => (await import('./agents-matrix.ts')).matrixCommand));
  agents
    .command('parse')
    .description('convert the output or transcript of an agent to events, one JSON object per line')
    .argument('<kind>', 'a kind of `whetstone agents list`, acp or bub')
    .argument('<file>', 'a stored stream or transcript; "-" reads standard input')
    .option('--metadata', 'print one JSON object that sums up what the agent did, instead of its events')
    .option('--json', 'also print the closing line on stderr as JSON')
    .addOption(
      new Option('--form <form>', 'what the file contains (default: detected)').choices([
        'stream',
        'transcript',
      ]),
    )
    .action(action(async () => (await import('./agents-parse.ts')).parseCommand));
  agents
    .command('capture')
    .description('record the prompt and the tools that an installed agent sends to its model')
    .argument('<kind>', 'the agent: codex, claude-code, gemini-cli, qwen-code, opencode, pi, copilot')
    .option('--model <model>', 'model to ask for (default: a model that the agent knows)')
    .option('--diff', 'show what changed since the previous capture; exit 1 if anything changed')
    .option('--output <file>', 'also write the capture to this file')
    .option('--json', 'print the capture as JSON, without its texts')
    .hook('preAction', async () => {
      const { enterPrivateMountNamespace } = await import('../workspace/mount-namespace.ts');
      enterPrivateMountNamespace();
    })
    .action(action(async () => (await import('./agents-capture.ts')).captureCommand));
}
