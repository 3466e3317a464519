import { type Command, Option } from 'commander';
import type { ActionOf } from './command-action.ts';
import { collect, portNumber, positiveInteger, positiveNumber } from './option-values.ts';

/** The commands `whetstone gateway …`. */
export function addGateway(program: Command, action: ActionOf): void {
  const gateway = program
    .command('gateway')
    .description('run a gateway between agents and their models, and watch its calls')
    .enablePositionalOptions() // `gateway env --json` is an option of `env`
    .addOption(
      new Option('--mode <mode>', 'where replies come from').choices([
        'forward',
        'record',
        'replay',
        'script',
      ]),
    )
    .option('--script <file>', 'script: the file with the replies of the model')
    .option('--cassette <file>', 'record, replay: the file of recorded exchanges')
    .addOption(
      new Option('--miss <what>', 'replay: how to answer a request that was not recorded').choices([
        'strict',
        'lenient',
        'fork',
      ]),
    )
    .addOption(
      new Option('--timing <what>', 'replay: pauses as recorded, or none').choices(['collapsed', 'kept']),
    )
    .option(
      '--upstream <provider>',
      'openai, anthropic or google, with =URL for another base URL (repeatable; default: every provider whose key is set)',
      collect,
      [],
    )
    .option('--key-env <provider=variable>', 'the variable that holds a key (repeatable)', collect, [])
    .option('--host <address>', 'address to listen on (default: 127.0.0.1)')
    .option('--port <port>', 'port to listen on (default: a free one)', portNumber)
    .option('--budget-usd <dollars>', 'refuse calls after this cost', positiveNumber)
    .option('--budget-tokens <n>', 'refuse calls after this many tokens', positiveInteger)
    .option('--budget-calls <n>', 'refuse calls after this many calls', positiveInteger)
    .option('--budget-minutes <minutes>', 'refuse calls after this time', positiveNumber)
    .option('--fault <fault>', 'inject this fault (repeatable)', collect, [])
    .option(
      '--allow-provider-tools',
      'keep tools that run at the provider, such as web search, and addresses that it fetches, in requests',
    )
    .option(
      '--allow-endpoint <endpoint>',
      'also serve this, such as /v1/embeddings or "GET /files/*" (repeatable; default: only model calls, token counts, lists of models)',
      collect,
      [],
    )
    .option('--calls-at-once <n>', 'the most calls to one provider at once (default: 512)', positiveInteger)
    .option('--ledger <file>', 'append one JSON line per call to this file')
    .option('--json', 'print one JSON line per call, and the totals as the last line')
    .hook('preAction', async (_, called) => {
      if (called !== gateway) return;
      const { restartLean } = await import('../workspace/lean-memory.ts');
      restartLean();
    })
    .action(action(async () => (await import('./gateway.ts')).gatewayCommand));
  gateway
    .command('env')
    .description('print the lines that point an agent at a running gateway')
    .argument('[kind]', 'the agent (default: the variables that provider SDKs read)')
    .option('--gateway <url>', 'base URL of the gateway’s lane (default: the running gateway)')
    .option('--key <key>', 'key of the lane (default: that of the running gateway)')
    .option('--model <model>', 'model to ask for, if the agent’s settings name a model')
    .option('--json', 'print the variables as JSON')
    .action(action(async () => (await import('./gateway-env.ts')).gatewayEnvCommand));
}
