// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell and of the config
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { agentKinds, kindAliases } from '@whetstone/agents/config';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import { ConfigErrors, type Diagnostic } from './diagnostic.ts';
import { formatDiagnostics } from './format-diagnostics.ts';
import { loadConfig } from './load-config.ts';

const fixtures = join(import.meta.dirname, '__fixtures__');

describe('what is wrong', () => {
  let folder: string;
  const folders: string[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'load-config-'));
    folders.push(folder);
    mkdirSync(join(folder, 'repo'));
    write('tasks.yaml', 'tasks:\n  - {id: one, prompt: Do it}\n');
  });
  afterAll(() => {
    for (const made of folders) rmSync(made, { recursive: true, force: true });
  });

  function write(name: string, text: string | Uint8Array): void {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), text);
  }

  async function diagnosticsOf(config: string): Promise<Diagnostic[]> {
    write('whetstone.yaml', config);
    try {
      return (await loadConfig('whetstone.yaml', { cwd: folder })).warnings;
    } catch (error) {
      if (error instanceof ConfigErrors) return [...error.diagnostics];
      throw error;
    }
  }

  /** `file:line:column path: message`, the hint behind it. */
  async function problems(config: string): Promise<string[]> {
    return (await diagnosticsOf(config)).map(({ file, line, column, severity, path, message, hint }) => {
      const name = file.slice(folder.length + 1).replace('whetstone.yaml', '');
      const label = severity === 'warning' ? 'warning ' : '';
      const place = [name, line, column].filter((part) => part !== undefined).join(':');
      return `${place} ${label}${path}: ${message}${hint === undefined ? '' : ` (${hint})`}`
        .replaceAll(folder, '')
        .replaceAll('\n', '; ');
    });
  }

  const REPO = 'repo: {path: repo}\n';
  const AGENT = 'agent: {name: a, command: run}\n';
  const VARIANTS = 'variants: {plain: }\n';

  it('is all reported at once, for both files, in file order (golden)', async () => {
    const failure = loadConfig('bad/whetstone.yaml', { cwd: fixtures });
    await expect(failure).rejects.toMatchObject({ code: 'config-invalid', exitCode: 2 });
    const diagnostics = await failure.catch((error: ConfigErrors) => error.diagnostics);
    const text = formatDiagnostics(diagnostics as Diagnostic[], { color: false, cwd: join(fixtures, 'bad') });
    await expect(text.replaceAll(fixtures, '<fixtures>')).toMatchFileSnapshot(
      '__fixtures__/bad/expected.txt',
    );
  });

  it('is a permission or a rule that the agent cannot be held to', async () => {
    const of = (agent: string) => problems(`${REPO}${VARIANTS}agents:\n  a:\n    kind: pi\n${agent}`);
    expect(await of('    permissions: {filesystem: read, netwrok: off}\n')).toEqual([
      ':6:31 agents.a.permissions.filesystem: unknown value "read" (did you mean read-only?; possible: read-only, workspace, full)',
      ':6:37 agents.a.permissions.netwrok: unknown key (correct or remove it)',
    ]);
    expect(await of('    permissions: {shell: ask}\n')).toEqual([
      ':6:26 agents.a.permissions.shell: pi cannot be held to shell: ask (it can: off, allow)',
    ]);
    expect(await of('    policy:\n      - allow: {command: npm test}\n')).toEqual([
      ':6:5 agents.a.policy: pi decides by itself and asks nothing, so no rule could decide (use permissions, or an agent that asks: docs/agents/permissions.md names them)',
    ]);
    expect(await of('    policy:\n      - {allow: {comand: x}}\n      - {deny: {}}\n      - {}\n')).toEqual([
      ':7:17 agents.a.policy[0].allow: names no condition: write tool, command, path, host or kind',
      ':7:18 agents.a.policy[0].allow.comand: unknown key (correct or remove it)',
      ':8:16 agents.a.policy[1].deny: names no condition: write tool, command, path, host or kind',
      ':9:9 agents.a.policy[2].allow: is required',
    ]);
    expect(await of('    options: {any: 1}\n')).toEqual([
      ':6:5 agents.a.options: pi has no options of its own (remove it)',
    ]);
  });

  it('is the name of an agent that a protocol does not drive', async () => {
    const of = (agent: string) => problems(`${REPO}${VARIANTS}agents:\n  a:\n${agent}`);
    const names = 'gemini-cli, opencode-cli, qwen-code, codex-cli, claude-code, copilot';
    expect(await of('    kind: acp\n')).toEqual([
      `:4:3 agents.a.agent: is required for kind: acp without a command (one of: ${names})`,
    ]);
    expect(await of('    kind: acp\n    agent: pi\n')).toEqual([
      `:6:12 agents.a.agent: is not an agent that acp drives (one of: ${names})`,
    ]);
    expect(await of('    kind: acp\n    agent: copilot\n    command: my-agent\n')).toEqual([
      ':6:5 agents.a.agent: an agent has either a name or a command, not both (keep one of them)',
    ]);
    expect(await of('    kind: pi\n    agent: copilot\n')).toEqual([
      ':6:5 agents.a.agent: only applies to kind: acp',
    ]);
    expect(await of('    kind: acp\n    command: my-agent\n    permissions: {shell: off}\n')).toEqual([
      ':7:5 agents.a.permissions: only applies to agents that Whetstone drives itself (name the model in the command itself)',
    ]);
    const policy = '    policy: [{allow: {tool: read}}]\n';
    expect(await of(`    kind: acp\n    command: my-agent\n${policy}`)).toEqual([]);
    expect(await of('    kind: acp\n    agent: gemini-cli\n    permissions: {shell: ask}\n')).toEqual([
      ':7:26 agents.a.permissions.shell: acp cannot be held to shell: ask (it can: off, allow)',
    ]);
    const escaping =
      ':7:18 agents.a.permissions: acp cannot be held to these together (with shell: allow its commands run outside every permission: write filesystem: full and network: open, too)';
    for (const name of ['gemini-cli', 'opencode-cli', 'qwen-code', 'claude-code', 'copilot']) {
      const asks = (permissions: string) =>
        of(`    kind: acp\n    agent: ${name}\n    permissions: {${permissions}}\n`);
      expect(await asks('shell: allow')).toEqual([escaping]);
      expect(await asks('shell: allow, filesystem: full')).toEqual([]);
    }
  });

  it.each<[what: string, config: string, expected: string[]]>([
    [
      'no agent',
      REPO + VARIANTS,
      [':1:1 : either agent or agents is required (whetstone init writes an example)'],
    ],
    [
      'both shapes',
      `${REPO}${AGENT}agents: {}\n${VARIANTS}`,
      [':3:1 agents: agent and agents cannot both be set (move the one agent into agents, under its name)'],
    ],
    ['no agents', `${REPO}agents: {}\n${VARIANTS}`, [':2:9 agents: at least one agent is required']],
    ['no variants', `${REPO}${AGENT}variants: {}\n`, [':3:11 variants: at least one variant is required']],
    ['no variants at all', REPO + AGENT, [':1:1 variants: is required']],
    ['no repo', AGENT + VARIANTS, [':1:1 repo: is required']],
    [
      'missing repo',
      `repo: {path: nope}\n${AGENT}${VARIANTS}`,
      [':1:14 repo.path: does not exist: /nope (relative paths start at )'],
    ],
    [
      'missing kind',
      `${REPO}agents:\n  a:\n    command: run\n${VARIANTS}`,
      [`:3:3 agents.a.kind: is required (one of: ${agentKinds.join(', ')})`],
    ],
    [
      'unknown kind',
      `${REPO}agents:\n  a: {command: run, kind: codex-cly}\n${VARIANTS}`,
      [
        `:3:27 agents.a.kind: unknown value "codex-cly" (did you mean codex-cli?; possible: ${[...agentKinds, ...Object.keys(kindAliases)].join(', ')})`,
      ],
    ],
    [
      'blank command',
      `${REPO}agent: {name: a, command: " "}\n${VARIANTS}`,
      [':2:27 agent.command: must not be empty'],
    ],
    ['no command', `${REPO}agent: {name: a}\n${VARIANTS}`, [':2:1 agent.command: is required']],
    [
      'agent name with space around it',
      `${REPO}agents:\n  " a": {kind: custom, command: run}\n${VARIANTS}`,
      [':3:3 agents[" a"]: the name must not start or end with white space'],
    ],
    [
      'telemetry_file without its collector',
      `${REPO}agent:\n  name: a\n  command: run {telemetry_file}\n${VARIANTS}`,
      [
        ':4:16 agent.command: unknown variable {telemetry_file} (only available with telemetry: {collector: json-file})',
      ],
    ],
    [
      'gateway variables without a gateway',
      `${REPO}agent:\n  name: a\n  command: [run, "{gateway_url}"]\n${VARIANTS}`,
      [':4:19 agent.command[1]: unknown variable {gateway_url} (only available with a gateway)'],
    ],
    [
      'malformed braces',
      `${REPO}agent:\n  name: a\n  command: run {} "{prompt}\n${VARIANTS}`,
      [
        ':4:16 agent.command: {} is not a variable (a variable is a plain {name}; write {{ and }} for literal braces)',
      ],
    ],
    [
      'a variable where no quoting helps',
      `${REPO}agent:\n  name: a\n  command: sh -c 'agent {prompt}'\n${VARIANTS}`,
      [
        ':4:25 agent.command: text of the task would be read as code by a second shell (pass it as an argument (sh -c \'… "$1"\' sh {prompt}) or as a file ({prompt_file}))',
      ],
    ],
    [
      'variant in a command',
      `${REPO}agent:\n  name: a\n  command: run {variant}\n${VARIANTS}`,
      [
        ':4:16 warning agent.command: the command contains the variant, so the agent can see which variant it runs with',
      ],
    ],
    [
      'two timeouts',
      `${REPO}agent: {name: a, command: run, timeout_minutes: 1, timeout_seconds: 5}\n${VARIANTS}`,
      [':2:52 agent.timeout_seconds: cannot be set together with timeout_minutes (keep one of them)'],
    ],
    [
      'a timeout that no timer can wait for',
      `${REPO}agent: {name: a, command: run, timeout_minutes: 99999}\n${VARIANTS}`,
      [':2:49 agent.timeout_minutes: must be at most 35791'],
    ],
    [
      'a fraction of a minute',
      `${REPO}agent: {name: a, command: run, timeout_minutes: 0.5}\n${VARIANTS}`,
      [':2:49 agent.timeout_minutes: expected a whole number, got the number 0.5'],
    ],
    [
      'loop with a command and without a profile',
      `${REPO}agents:\n  a: {kind: loop, command: x}\n${VARIANTS}`,
      [
        ':3:3 agents.a.profile: is required for kind: loop (one of: openai, anthropic, gemini)',
        ':3:19 agents.a.command: kind: loop runs in process and does not take a command (remove it, or choose another kind)',
      ],
    ],
    [
      'a module beside a command, for another kind, missing, of another language',
      `${REPO}agents:
  a: {kind: custom, module: tasks.yaml, command: x, model: m}
  b: {kind: codex-cli, module: nowhere.ts, profile: openai}
  c: {kind: loop, profile: openai, module: tasks.yaml}
  d: {kind: custom, module: agent.mjs, telemetry: {collector: codex-jsonl}}
${VARIANTS}`,
      [
        ':3:29 agents.a.module: is not a module that Node can import: /tasks.yaml (one of: .ts, .mts, .js, .mjs)',
        ':3:41 agents.a.command: an agent has either a command or a module, not both (keep one of them)',
        ':4:24 agents.b.module: only applies to kind: custom (use kind: custom)',
        ':4:32 agents.b.module: does not exist: /nowhere.ts (relative paths start at )',
        ':4:44 agents.b.profile: only applies to kind: loop',
        ':5:36 agents.c.module: kind: loop runs in process and does not take a module (remove it, or choose another kind)',
        ':5:44 agents.c.module: is not a module that Node can import: /tasks.yaml (one of: .ts, .mts, .js, .mjs)',
        ':6:29 agents.d.module: does not exist: /agent.mjs (relative paths start at )',
        ':6:63 agents.d.telemetry.collector: a module reports its own events, so it does not need a collector (remove telemetry)',
      ],
    ],
    [
      'loop keys elsewhere',
      `${REPO}agent: {name: a, command: x, model: m}\n${VARIANTS}`,
      [
        ':2:30 agent.model: only applies to kind: loop and to agents that Whetstone drives itself (name the model in the command itself)',
      ],
    ],
    [
      'keys that a login has no use for',
      `${REPO}agents:
  a: {kind: codex-cli, auth: login, api_key_env: K, base_url: "https://a.example"}
  b: {kind: gemini-cli, auth: login, base_url: "https://b.example"}
  c: {kind: codex-cli, auth: password}
${VARIANTS}`,
      [
        ':3:37 agents.a.api_key_env: does not apply to `auth: login` (remove it, or write `auth: api-key`)',
        ':4:38 agents.b.base_url: does not apply to the login of gemini-cli, whose program has an address of its own (remove it, or write `auth: api-key`)',
        ':5:30 agents.c.auth: unknown value "password" (possible: api-key, login)',
      ],
    ],
    [
      'an unknown network',
      `${REPO}agent: {name: a, command: x, network: offline}\n${VARIANTS}`,
      [':2:39 agent.network: unknown value "offline" (possible: disabled, enabled)'],
    ],
    [
      'a second document',
      `${REPO}${AGENT}${VARIANTS}---\nrepo: {path: elsewhere}\n`,
      [
        ':4:1 : this file has a second YAML document (only one document per file is read; move the others into files of their own)',
      ],
    ],
    [
      'bad environment',
      `${REPO}agent:\n  name: a\n  command: x\n  env:\n    A-B: x\n    C: [1]\n    D: "\${E F}"\n    G:\n${VARIANTS}`,
      [
        ':6:5 agent.env.A-B: is not a valid name for an environment variable',
        ':7:8 agent.env.C: expected text, a number or a boolean',
        ':8:8 agent.env.D: has a reference that does not name a variable (write ${NAME} for a variable of your environment)',
        ':9:5 agent.env.G: expected text, a number or a boolean (write "" for an empty value)',
      ],
    ],
    [
      'unsafe telemetry file',
      `${REPO}agent: {name: a, command: x, telemetry: {collector: json-file, file: 'C:x'}}\n${VARIANTS}`,
      [
        ':2:70 agent.telemetry.file: unsafe path: "C:x" starts with a drive letter (write a plain relative path, such as docs/AGENTS.md)',
      ],
    ],
    [
      'overlays that are neither',
      `${REPO}${AGENT}variants:\n  v:\n    overlays:\n      - {}\n      - {source: repo}\n      - {remove: [a], source: repo}\n      - {remove: []}\n`,
      [
        ':6:9 variants.v.overlays[0]: an overlay needs source and target, or remove',
        ':7:9 variants.v.overlays[1].target: is required',
        ':8:9 variants.v.overlays[2]: an overlay either copies (source, target) or removes (remove), not both (split it into two entries; they are applied in order)',
        ':9:18 variants.v.overlays[3].remove: must not be an empty list',
      ],
    ],
    [
      'unknown sandbox and gateway',
      `${REPO}${AGENT}${VARIANTS}sandbox: {provider: lxc}\ngateway: {mode: tape}\n`,
      [
        ':4:21 sandbox.provider: there is no sandbox "lxc" (sandboxes: auto, bubblewrap, docker, process, sandbox-runtime)',
        ':5:17 gateway.mode: unknown value "tape" (possible: script, forward, record, replay)',
      ],
    ],
    [
      'hosts that are none',
      `${REPO}${AGENT}${VARIANTS}sandbox: {hosts: [a.example, "https://b.example/x", 10.0.0.1], setup_hosts: ["*"]}\n`,
      [
        ':4:30 sandbox.hosts[1]: "https://b.example/x" is an address; write only the name of its host (write `NAME`, `*.NAME` or `NAME:PORT`, such as `npm.example.com`)',
        ':4:53 sandbox.hosts[2]: "10.0.0.1" is an IP address; only names can be listed (write `NAME`, `*.NAME` or `NAME:PORT`, such as `npm.example.com`)',
        ':4:78 sandbox.setup_hosts[0]: "*" is not a host name (write `NAME`, `*.NAME` or `NAME:PORT`, such as `npm.example.com`)',
      ],
    ],
    [
      'containers without an image',
      `${REPO}${AGENT}${VARIANTS}sandbox: {provider: docker, runtime: runsc}\n`,
      [
        ':4:10 sandbox: needs an image (write `sandbox: { provider: docker, image: NAME }`, or `build: { context: FOLDER }` in place of `image`)',
      ],
    ],
    [
      'options of a gateway that need a provider, in a mode without one',
      `${REPO}${AGENT}${VARIANTS}gateway: {mode: script, script: tasks.yaml, calls_at_once: 4, allow_endpoints: [/v1/files]}\n`,
      [
        ':4:45 gateway.calls_at_once: does not apply to mode script (only applies to mode forward, record, replay)',
        ':4:63 gateway.allow_endpoints: does not apply to mode script (only applies to mode forward, record, replay)',
      ],
    ],
    [
      'a gateway without what its mode needs, and with what it has no use for',
      `${REPO}${AGENT}${VARIANTS}gateway: {mode: record, script: s.yaml, miss: strict, upstreams: {openai: {key_env: A, key_file: b}, mistral: {}}}\n`,
      [
        ':4:1 gateway.cassettes: is required in this mode (a folder for the recordings)',
        ':4:25 gateway.script: does not apply to mode record (only applies to mode script)',
        ':4:41 gateway.miss: does not apply to mode record (only applies to mode replay)',
        ':4:75 gateway.upstreams.openai: has more than one key (keep only one of key_env, key_file, key_command)',
        ':4:102 warning gateway.upstreams.mistral: unknown key, which has no effect (known: openai, anthropic, google)',
      ],
    ],
    [
      'a replay of a folder that is not there',
      `${REPO}${AGENT}${VARIANTS}gateway: {mode: replay, cassettes: nowhere}\n`,
      [':4:36 gateway.cassettes: does not exist: /nowhere (relative paths start at )'],
    ],
    [
      'a fault that is none',
      `${REPO}${AGENT}${VARIANTS}gateway: {mode: forward, faults: ['429', latncy=5]}\n`,
      [
        ':4:42 gateway.faults[1]: unknown kind of fault "latncy"; did you mean latency?; kinds: latency, status, refused, reset, hang, hang-mid-stream, truncated, garbage, malformed-tool-json, slow-tokens (for example: 429,retry-after=1@first=2 · latency=500 · reset@every=3 · truncated=3@p=0.2 · {"fault":{"kind":"hang"}})',
      ],
    ],
    [
      'a budget of nothing',
      `${REPO}${AGENT}${VARIANTS}gateway: {mode: forward, budget: {usd: 0}}\n`,
      [':4:40 gateway.budget.usd: must be more than 0'],
    ],
    [
      'unknown baseline',
      `${REPO}${AGENT}variants: {plain: , other: }\nbaseline: plan\n`,
      [':4:11 baseline: there is no variant "plan" (did you mean plain?; variants: plain, other)'],
    ],
    [
      'unknown keys at every level',
      `repo: {path: repo, baseRef: x}\nagent: {name: a, command: run, telemetry: {colector: none}}\nvariants: {v: {overlay: []}}\nevaluation: {timeout_second: 1}\nxyzzy: 1\n`,
      [
        ':1:20 warning repo.baseRef: unknown key, which has no effect (did you mean base_ref?; known: path, base_ref)',
        ':2:44 warning agent.telemetry.colector: unknown key, which has no effect (did you mean collector?; known: collector, file, environment_variable)',
        ':3:16 warning variants.v.overlay: unknown key, which has no effect (did you mean overlays?; known: description, overlays, instructions, skills, mcp_servers, plugins)',
        ':4:14 warning evaluation.timeout_second: unknown key, which has no effect (did you mean timeout_seconds?; known: commands, timeout_seconds)',
        ':5:1 warning xyzzy: unknown key, which has no effect (known: repo, agent, agents, tasks, variants, evaluation, output_dir, seed, baseline, metric, equivalence, sandbox, environment, gateway, judge)',
      ],
    ],
    [
      'names that the name of a variable is made of',
      `${REPO}${AGENT}${VARIANTS}environment: {env: {A-B: x}, services: {my-db: {command: db}}}\n`,
      [
        ':4:21 environment.env.A-B: is not the name of an environment variable',
        ':4:41 environment.services.my-db: may only have letters, digits and _, for NAME_HOST and NAME_PORT',
      ],
    ],
    [
      'two services that have the same variables',
      `${REPO}${AGENT}${VARIANTS}environment: {services: {db: {command: a}, DB: {command: b}}}\n`,
      [':4:44 environment.services.DB: has the variables of db (DB_PORT) (rename one of them)'],
    ],
    [
      'duplicate keys',
      `${REPO}${AGENT}${VARIANTS}repo: {}\n`,
      [':4:1 : duplicate key repo (the same key appears above; keep one of them)'],
    ],
    [
      'keys that are the same text',
      `${REPO}${AGENT}variants: {1: , "1": }\n`,
      [':3:17 : duplicate key "1" (the same key appears above; keep one of them)'],
    ],
    [
      'syntax',
      'repo: {path: repo\nagent: x\n',
      [':2:1 : invalid YAML: Flow map in block collection must be sufficiently indented and end with a }'],
    ],
    [
      'a cycle',
      `${REPO}${AGENT}variants: &v {a: *v}\n`,
      [':1:1 : invalid YAML: an alias (*) refers to something that contains it'],
    ],
    ['a list', '- a\n', [':1:1 : the config must be a mapping of keys to values']],
    ['nothing', '# only a comment\n', [' : this file is empty']],
    [
      'a missing task file',
      `${REPO}${AGENT}${VARIANTS}tasks: none.yaml\n`,
      [':4:8 tasks: does not exist: /none.yaml (relative paths start at )'],
    ],
  ])('%s', async (_, config, expected) => {
    const found = await problems(config);
    expect(found).toEqual(expected);
  });

  it.each<[what: string, tasks: string, expected: string[]]>([
    ['no tasks', 'tasks: []\n', ['tasks.yaml:1:8 tasks: at least one task is required']],
    [
      'duplicate ids',
      'tasks:\n  - {id: a, prompt: x}\n  - {id: " a ", prompt: x}\n',
      ['tasks.yaml:3:10 tasks[a].id: duplicate task id (tasks[0] has the same id)'],
    ],
    [
      'numbers where text is needed',
      'tasks:\n  - id: 1.0\n    prompt: yes\n    title: 2024\n    category: true\n',
      [
        'tasks.yaml:2:9 tasks[0].id: expected text, got the number 1.0 (put it in quotes: "1.0")',
        'tasks.yaml:4:12 tasks[0].title: expected text, got the number 2024 (put it in quotes: "2024")',
        'tasks.yaml:5:15 tasks[0].category: expected text, got the boolean true (put it in quotes: "true")',
      ],
    ],
    [
      'values of the wrong kind',
      'tasks:\n  - id: a\n    prompt:\n    setup: npm ci\n    validation: {commands: [[]]}\n    protected_paths: ["../x", "!a"]\n',
      [
        'tasks.yaml:3:5 tasks[a].prompt: expected text, but the value is missing',
        'tasks.yaml:4:12 tasks[a].setup: expected a list, got the text "npm ci"',
        'tasks.yaml:5:29 tasks[a].validation.commands[0]: must not be an empty list',
        'tasks.yaml:6:23 tasks[a].protected_paths[0]: bad pattern: it leaves the tree (..)',
        'tasks.yaml:6:31 tasks[a].protected_paths[1]: bad pattern: a negated pattern protects nothing by itself',
      ],
    ],
    [
      'hard checks',
      'tasks:\n  - id: a\n    prompt: x\n    hard_evaluation:\n      required_paths: [/etc/passwd]\n      max_changed_files: -1\n      expected_snippets: [{path: a, snippets: [""]}]\n      command_checks: [{label: " ", command: ""}]\n',
      [
        'tasks.yaml:5:24 tasks[a].hard_evaluation.required_paths[0]: unsafe path: "/etc/passwd" is absolute (write a plain relative path, such as docs/AGENTS.md)',
        'tasks.yaml:6:26 tasks[a].hard_evaluation.max_changed_files: must be at least 0',
        'tasks.yaml:7:48 tasks[a].hard_evaluation.expected_snippets[0].snippets[0]: a snippet must not be empty',
        'tasks.yaml:8:32 tasks[a].hard_evaluation.command_checks[0].label: must not be empty',
        'tasks.yaml:8:46 tasks[a].hard_evaluation.command_checks[0].command: must not be empty',
      ],
    ],
    [
      'a key that is nearly known',
      'tasks:\n  - id: a\n    prompt: x\n    repoRef: main\n    owner: me\n    validation: {command: []}\n',
      [
        'tasks.yaml:4:5 warning tasks[a].repoRef: unknown key, kept but without effect (did you mean repo_ref?)',
        'tasks.yaml:6:18 warning tasks[a].validation.command: unknown key, which has no effect (did you mean commands?; known: commands, timeout_seconds, tests)',
      ],
    ],
    [
      'missing hidden tests',
      'tasks:\n  - {id: a, prompt: x, hidden_tests: nope}\n',
      ['tasks.yaml:2:38 tasks[a].hidden_tests: does not exist: /nope (relative paths start at )'],
    ],
  ])('in a task file: %s', async (_, tasks, expected) => {
    write('tasks.yaml', tasks);
    expect(await problems(REPO + AGENT + VARIANTS)).toEqual(expected);
  });

  it('refuses sources whose content leads out of them', async () => {
    write('overlay/ok.md', 'x');
    write('overlay/sub/.git/config', 'x');
    symlinkSync('ok.md', join(folder, 'overlay/inside'));
    symlinkSync('/etc/passwd', join(folder, 'overlay/absolute'));
    symlinkSync('../tasks.yaml', join(folder, 'overlay/outside'));
    symlinkSync('sub/../../repo', join(folder, 'overlay/dangling'));
    const config = `${REPO}${AGENT}variants:\n  v:\n    overlays:\n      - {source: overlay, target: docs}\n`;
    expect(await problems(config)).toEqual([
      ':6:18 variants.v.overlays[0].source: absolute is a symlink that leads out of the source (to /etc/passwd)',
      ':6:18 variants.v.overlays[0].source: dangling is a symlink that leads out of the source (to sub/../../repo)',
      ':6:18 variants.v.overlays[0].source: outside is a symlink that leads out of the source (to ../tasks.yaml)',
      ':6:18 variants.v.overlays[0].source: sub/.git/config is in a .git folder',
    ]);
  });

  it('points into a prompt template', async () => {
    write('prompt.md', 'Do it.\n\n{task_promt} for {variant} {x');
    const config = `${REPO}agent: {name: a, command: run, prompt_template: prompt.md}\n${VARIANTS}`;
    expect(await problems(config)).toEqual([
      'prompt.md:3:1 agent.prompt_template: unknown variable {task_promt} (did you mean {task_prompt}?; known: task_id, task_title, task_prompt, variant, repo_ref, category, difficulty)',
      'prompt.md:3:18 warning agent.prompt_template: the prompt contains the variant: each variant gets another prompt, and the agent can see which variant it runs with (remove {variant})',
      'prompt.md:3:28 agent.prompt_template: a { that is not a variable (write {{ for a literal {)',
    ]);
  });

  it('never shows the value of an environment variable', async () => {
    const config = `${REPO}agent:\n  name: a\n  command: x\n  env: {KEY: "s3cret\${", B: [s3cret]}\n${VARIANTS}`;
    const text = formatDiagnostics(await diagnosticsOf(config), { color: false, cwd: folder });
    expect(text).toContain('agent.env.KEY');
    expect(text).not.toContain('s3cret');
  });

  it('reports a file that is missing, is not text, or is not a file', async () => {
    const message = 'this file does not exist';
    await expect(loadConfig('none.yaml', { cwd: folder })).rejects.toMatchObject({
      where: join(folder, 'none.yaml'),
      diagnostics: [{ file: join(folder, 'none.yaml'), path: '', message, severity: 'error' }],
    });
    write('binary.yaml', new Uint8Array([0x66, 0xff, 0xfe]));
    await expect(loadConfig('binary.yaml', { cwd: folder })).rejects.toMatchObject({
      diagnostics: [{ message: 'this file is not UTF-8 text' }],
    });
    await expect(loadConfig('.', { cwd: folder })).rejects.toMatchObject({
      diagnostics: [{ message: 'this file is not a regular file' }],
    });
  });

  it('refuses task ids with control characters', async () => {
    write('tasks.yaml', 'tasks:\n  - {id: "one\\u001b[31m", prompt: x}\n  - {id: "two\\n", prompt: x}\n');
    expect(await problems(REPO + AGENT + VARIANTS)).toEqual([
      'tasks.yaml:2:10 tasks[one\u001b[31m].id: must not contain a control character',
    ]);
  });

  it('keeps control characters of a hostile file from the terminal', async () => {
    const config = `${REPO}${AGENT}${VARIANTS}"\\e[31mkey": "\u001b[2J"\n`;
    const text = formatDiagnostics(await diagnosticsOf(config), { color: false, cwd: folder });
    expect(text).toContain('key');
    expect(text).not.toContain('\u001b');
  });
});
