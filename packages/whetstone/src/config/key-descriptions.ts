import { isJsonObject, type JsonObject } from '@whetstone/events';

const BUDGET = {
  usd: 'US dollars.',
  tokens: 'Tokens of all kinds.',
  calls: 'Model calls.',
  minutes: 'Minutes.',
};

const RULE = {
  tool: 'The name of the tool, with `*` for any part of it.',
  command: 'The command, with `*` for any part of it.',
  path: 'The path, relative to the workspace, as a glob.',
  host: 'The host that would be reached.',
  kind: 'The kind of what is asked.',
};

const UPSTREAM = {
  url: 'Another address than the provider’s own.',
  key_env: 'The variable that holds the key.',
  key_file: 'The file that holds the key.',
  key_command: 'The command that prints the key.',
};

const under = (path: string, keys: Record<string, string>): Record<string, string> =>
  Object.fromEntries(Object.entries(keys).map(([key, text]) => [`${path}.${key}`, text]));

/** What each key of `whetstone.yaml` means, for editors and for the pages of the site. `NAME` stands for a name of yours. */
export const keyDescriptions: Readonly<Record<string, string>> = {
  repo: 'The repository that the agents work on. It is only read.',
  'repo.path': 'A Git repository with a work tree, relative to this file.',
  'repo.base_ref':
    'The commit, branch or tag that tasks start from, unless they name their own. Default: `HEAD`.',
  agent: 'One agent, in the older form of context-eval, with `name`. Never together with `agents`.',
  agents: 'The agents by name.',
  'agents.NAME.name': 'The name of the agent.',
  'agents.NAME.kind':
    'Which agent it is, or how it is reached: a released agent, a protocol, a command, or our own loop.',
  'agents.NAME.command':
    'The command of a `custom` agent, as a template: a text for a shell, or a list without one.',
  'agents.NAME.resume_command': 'The command of a later turn, for tasks with `follow_ups`.',
  'agents.NAME.telemetry': 'Where a command reports its tokens and cost.',
  'agents.NAME.telemetry.collector': 'The format: `none` (default), `json-file` or `codex-jsonl`.',
  'agents.NAME.telemetry.file': 'The file that the agent writes, in its output folder.',
  'agents.NAME.telemetry.environment_variable': 'The variable that tells the agent where that file is.',
  'agents.NAME.module':
    'A JavaScript or TypeScript module whose default export is the agent, in place of a command.',
  'agents.NAME.model': 'The model. Default: the program’s own, where it has one.',
  'agents.NAME.timeout_minutes': 'The limit of each turn in minutes. Default: 60.',
  'agents.NAME.timeout_seconds': 'The limit of each turn in seconds, in place of minutes.',
  'agents.NAME.network':
    'What the agent needs: `enabled` or `disabled`. Recorded; the sandbox decides what it gets.',
  'agents.NAME.prompt_template': 'A file with the text around each prompt.',
  'agents.NAME.side_effects':
    '`none`: a turn that changes the workspace has failed. Default: it may change it.',
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the syntax of the config
  'agents.NAME.env': 'Variables of the agent’s process. `${NAME}` takes the value of your environment.',
  'agents.NAME.agent': 'Of `kind: acp` and of SDKs: which agent is behind the protocol.',
  'agents.NAME.auth': '`api-key` (default) or `login`, the login of the program itself.',
  'agents.NAME.base_url': 'The address of the model’s provider. Such an agent bypasses the gateway.',
  'agents.NAME.api_key_env': 'The variable that holds the key. Default: the provider’s usual one.',
  'agents.NAME.version':
    'A version that `whetstone agents install` installed. Default: the one on the PATH, else the newest installed.',
  'agents.NAME.inherit': 'Files and folders of your home that are copied into the agent’s home.',
  'agents.NAME.permissions': 'What the agent may use, set in the agent itself.',
  'agents.NAME.permissions.filesystem': 'What its tools may write: `read-only`, `workspace` or `full`.',
  'agents.NAME.permissions.shell': 'Commands: `off`, `ask` (the policy decides about each) or `allow`.',
  'agents.NAME.permissions.network':
    'Of its commands and tools: `off` or `open`. Its model is always reachable.',
  'agents.NAME.permissions.apps': 'Plugins and connectors that it brings or finds: `off` or `allow`.',
  'agents.NAME.permissions.environment': '`minimal`, or `inherit`: your environment, keys included.',
  'agents.NAME.policy':
    'Rules that answer what the agent asks. Without a rule for it, the permission decides.',
  'agents.NAME.policy.[].allow': 'Allows what fits all of these.',
  'agents.NAME.policy.[].deny': 'Denies what fits all of these.',
  ...under('agents.NAME.policy.[].allow', RULE),
  ...under('agents.NAME.policy.[].deny', RULE),
  'agents.NAME.options': 'Options of this kind of agent, as its page lists them.',
  'agents.NAME.profile': 'Of `kind: loop`: tools and prompt of a model family.',
  'agents.NAME.reasoning_effort':
    'How much the model thinks: `low`, `medium`, `high`, or another value that it knows.',
  'agents.NAME.max_tool_rounds': 'Of `kind: loop`: ends after so many rounds of tool calls.',
  'agents.NAME.context': 'Of a `custom` agent: where it looks for what a variant declares.',
  'agents.NAME.context.instructions': 'Its file with instructions, in the workspace.',
  'agents.NAME.context.skills': 'Its folder with skills.',
  'agents.NAME.context.mcp_servers': 'Its file with MCP servers.',
  tasks: 'The task file, relative to this file. Default: `tasks.yaml`.',
  variants: 'What is compared, by name: each variant is a change of what agents find in the repository.',
  'variants.NAME.description': 'A text for readers. No agent sees it.',
  'variants.NAME.overlays': 'Files that the variant lays over the tree, or takes away, in this order.',
  'variants.NAME.overlays.[].source': 'A file or folder, relative to this file.',
  'variants.NAME.overlays.[].target': 'Where it goes in the tree.',
  'variants.NAME.overlays.[].remove': 'Paths that are taken away.',
  'variants.NAME.instructions': 'Instructions that each agent gets where it looks for them.',
  'variants.NAME.instructions.text': 'The text itself.',
  'variants.NAME.instructions.file': 'The file that has it.',
  'variants.NAME.instructions.mode':
    '`append` (default): beside those of the repository; `replace`: in their place.',
  'variants.NAME.skills': 'Folders of skills that each agent gets.',
  'variants.NAME.mcp_servers': 'MCP servers that each agent gets, by name.',
  'variants.NAME.mcp_servers.NAME.command': 'The program of a server that the agent starts.',
  'variants.NAME.mcp_servers.NAME.args': 'Its arguments.',
  'variants.NAME.mcp_servers.NAME.env': 'Its variables.',
  'variants.NAME.mcp_servers.NAME.url': 'The address of a server that runs already.',
  'variants.NAME.mcp_servers.NAME.headers': 'Headers of each request to it.',
  'variants.NAME.plugins': 'Folders of plugins, each with the manifest of every agent.',
  evaluation: 'How the work of tasks without `validation` is verified.',
  'evaluation.commands': 'Commands that have to exit with 0: a text for a shell, or a list without one.',
  'evaluation.timeout_seconds': 'The limit of each command. Default: 3600.',
  output_dir: 'Where runs are kept. Default: `.whetstone/runs`.',
  seed: 'Seeds the order of the cases and every random choice of a script. Default: a new one, kept in the manifest.',
  baseline:
    'The variant that the others are compared with. Default: the one named `baseline`, else the first.',
  metric:
    'What comparisons are about. Default: `pass_rate`; of `cost`, `tokens` and `seconds` less is better.',
  equivalence:
    'Differences up to this size count as none, such as `5pp`, or `10%` of an amount. Default: nothing makes an equivalence.',
  sandbox: 'Where commands run. Default: `auto`, the strongest that this machine proves.',
  'sandbox.provider': '`auto` (default), or a sandbox by its name.',
  'sandbox.readable': 'More paths that commands may read, relative to this file. Default: none.',
  'sandbox.hosts': 'Hosts that commands reach beside the gateway. Default: none.',
  'sandbox.setup_hosts': 'Hosts that `setup` and `prepare` reach beside these. Default: the whole network.',
  'sandbox.image': 'The image of `docker`.',
  'sandbox.build': 'Builds the image of `docker` in place of `image`.',
  'sandbox.build.context': 'The folder that the build gets, relative to this file.',
  'sandbox.build.dockerfile': 'The Dockerfile in it.',
  'sandbox.runtime':
    'The runtime of `docker`, by the name that the engine knows. Default: that of the engine.',
  'sandbox.socket': 'The socket of the engine. Default: that of DOCKER_HOST, else the usual ones.',
  'sandbox.limits': 'The most that all commands of a case together may take.',
  'sandbox.limits.memory_mb': 'Memory in MB, of a million bytes. Default: three quarters of the machine’s.',
  'sandbox.limits.processes': 'Processes. Default: 4,096.',
  'sandbox.limits.cpus': 'Processors. Default: no limit.',
  'sandbox.limits.disk_mb':
    'Disk in MB, of a million bytes. Default: the most of 16, 8, 4 … GiB with which two disks for each of the cases that run at the same time fit in what is free.',
  environment: 'What is installed once for all cases.',
  'environment.prepare': 'Commands that install it. Default: none.',
  'environment.inputs': 'Files that it depends on. Default: lock files and their like.',
  'environment.env': 'Variables of these commands.',
  'environment.timeout_seconds': 'The limit of each command.',
  'environment.services': 'Programs that run beside each case, by name.',
  'environment.services.NAME.command': 'The command of the service.',
  'environment.services.NAME.ready':
    'When it is ready: once its port accepts a connection (`tcp`), or at once (`none`).',
  gateway:
    'The gateway between agents and their models, which counts calls, keeps keys and holds budgets. Default: none.',
  'gateway.mode': 'Where replies come from: `script`, `forward`, `record` or `replay`.',
  'gateway.script': 'The file of mode `script`.',
  'gateway.cassettes': 'The folder of recordings, for `record` and `replay`.',
  'gateway.miss': 'Of `replay`, for a request that was not recorded: `strict`, `lenient` or `fork`.',
  'gateway.timing': 'Of `replay`: `collapsed` answers at once, `kept` as slowly as recorded.',
  'gateway.upstreams': 'The providers. Default: every provider whose key is set.',
  'gateway.upstreams.openai': 'OpenAI, or a server that speaks like it.',
  'gateway.upstreams.anthropic': 'Anthropic, or a server that speaks like it.',
  'gateway.upstreams.google': 'Google, or a server that speaks like it.',
  ...under('gateway.upstreams.openai', UPSTREAM),
  ...under('gateway.upstreams.anthropic', UPSTREAM),
  ...under('gateway.upstreams.google', UPSTREAM),
  'gateway.allow_provider_tools':
    'Tools that run at the provider, or addresses that it fetches. Default: none; `true`: all.',
  'gateway.allow_endpoints': 'Endpoints beside model calls, such as `/v1/embeddings`. Default: none.',
  'gateway.calls_at_once': 'The most calls to one provider at once, over all cases. Default: 512.',
  'gateway.keep_exchanges': 'Which requests and replies of model calls are kept with a case.',
  'gateway.budget': 'The most of one case.',
  ...under('gateway.budget', BUDGET),
  'gateway.run_budget': 'The most of all cases together.',
  ...under('gateway.run_budget', BUDGET),
  'gateway.faults': 'What goes wrong on purpose, in the short form of `whetstone gateway --fault`.',
  judge: 'The model or the agent that judges where a check asks for a judgement.',
  'judge.model': 'The model as `PROVIDER/MODEL`.',
  'judge.agent': 'An agent in place of a model, with the keys of `agents`.',
  'judge.votes': 'How many votes decide, 1 to 25. Default: 1.',
  'judge.budget': 'The most of all judgements of a run.',
  ...under('judge.budget', BUDGET),
  'judge.script': 'A script in place of a model, for trying it out.',
  'judge.same_as_agent': 'Whether the judge may be the model or the agent that it judges. Default: `false`.',
};

/** Adds the descriptions to a JSON schema of `whetstone.yaml`, at every level. */
export function withDescriptions(schema: Record<string, unknown>): Record<string, unknown> {
  return describe(schema as JsonObject, '');
}

function describe(schema: JsonObject, path: string): JsonObject {
  const at = (name: string) => (path === '' ? name : `${path}.${name}`);
  return Object.fromEntries(
    Object.entries(schema).map(([word, value]) => {
      if (word === 'properties' && isJsonObject(value)) {
        const described = Object.entries(value).map(([key, below]) => {
          const place = at(key);
          const text = descriptionOf(place);
          const own = isJsonObject(below) ? describe(below, place) : below;
          return [key, text === undefined || !isJsonObject(own) ? own : { description: text, ...own }];
        });
        return [word, Object.fromEntries(described)];
      }
      if (Array.isArray(value) && ['anyOf', 'oneOf', 'allOf'].includes(word)) {
        return [word, value.map((one) => (isJsonObject(one) ? describe(one, path) : one))];
      }
      if (word === 'items' && isJsonObject(value)) return [word, describe(value, at('[]'))];
      if (word === 'additionalProperties' && isJsonObject(value)) return [word, describe(value, at('NAME'))];
      return [word, value];
    }),
  );
}

/** The one agent of the older form has the keys of those of `agents`. */
const descriptionOf = (path: string): string | undefined =>
  keyDescriptions[path] ?? keyDescriptions[path.replace(/^agent\./, 'agents.NAME.')];
