import { type Command, Option } from 'commander';

/** `whetstone agents …`: what can be asked; the code of each command is loaded when it is called. */
export function addAgents(program: Command, exit: (code: number) => void): void {
  const agents = program
    .command('agents')
    .description('released coding agents: list, install, read what they left, capture what they send');
  agents
    .command('list')
    .description('the agents that Whetstone drives itself, and where they are on this machine')
    .option('--json', 'print them as JSON')
    .action(async (options) => {
      const { listCommand } = await import('./agents-list.ts');
      exit(await listCommand(options, process.stdout));
    });
  agents
    .command('install')
    .description('install a released agent for Whetstone alone, into your cache folder, once')
    .argument('<agent...>', 'KIND or KIND@VERSION (default: the version that is tested)')
    .option('--json', 'print a line of JSON for each')
    .addHelpText(
      'after',
      `
Examples:
  whetstone agents install codex
  whetstone agents install claude-code@2.1.330 gemini-cli

A run with \`version:\` in the agent’s configuration uses that one; others use what is on the PATH, else the newest here.`,
    )
    .action(async (names, options) => {
      const { installCommand } = await import('./agents-install.ts');
      exit(await installCommand(names, options, { stdout: process.stdout, stderr: process.stderr }));
    });
  agents
    .command('parse')
    .description('turn what an agent printed or kept into events, one JSON object a line')
    .argument('<kind>', 'codex-cli, claude-code, gemini-cli, qwen-code, opencode-cli, pi, copilot, bub')
    .argument('<file>', 'a stored stream or transcript; "-" reads standard input')
    .option('--metadata', 'print what the agent did in one JSON object instead')
    .addOption(
      new Option('--form <form>', 'what the file is (default: found out)').choices(['stream', 'transcript']),
    )
    .addHelpText(
      'after',
      `
Examples:
  codex exec --json "Explain this repository" | whetstone agents parse codex-cli -
  whetstone agents parse claude-code ~/.claude/projects/-work-app/8f2c….jsonl --metadata | jq .commands`,
    )
    .action(async (kind, file, options) => {
      const { parseCommand } = await import('./agents-parse.ts');
      exit(
        await parseCommand(kind, file, options, {
          stdin: process.stdin,
          stdout: process.stdout,
          stderr: process.stderr,
        }),
      );
    });
  agents
    .command('capture')
    .description('store the prompt and the tools that an installed agent sends to its model')
    .argument('<kind>', 'the agent: codex, claude-code, gemini-cli, qwen-code, opencode, pi, copilot')
    .option('--model <model>', 'model to ask for (default: one that the agent knows)')
    .option('--diff', 'show what changed since the capture before; exit 1 when something did')
    .option('--output <file>', 'write the capture to this file as well')
    .option('--json', 'print what was captured as JSON, without its texts')
    .addHelpText(
      'after',
      `
Examples:
  whetstone agents capture codex
  whetstone agents capture claude-code --model claude-opus-4-5 --diff

The agent runs once, in an empty repository, with a HOME of its own and a scripted model: no key, no provider. The
capture goes into your cache folder. It is the agent's own text: mind its licence before you share it.`,
    )
    .action(async (kind, options) => {
      const { captureCommand } = await import('./agents-capture.ts');
      exit(await captureCommand(kind, options, { stdout: process.stdout, stderr: process.stderr }));
    });
}
