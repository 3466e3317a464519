import type { Exposure } from '../../record/exposure-schema.ts';
import type { Manifest } from '../../record/manifest.ts';
import type { CaseRow } from '../../record/row.ts';

export type Shape = {
  agents?: string[];
  tasks?: string[];
  variants?: string[];
  trials?: number;
};

/** A plan over this matrix; the first variant is the baseline. */
export function sampleManifest(shape: Shape = {}, overrides: Partial<Manifest> = {}): Manifest {
  const { agents = ['loop'], tasks = ['fix-parser'], variants = ['baseline', 'agents-md'], trials = 1 } = shape;
  const matrix = agents.flatMap((agent_name, a) =>
    tasks.flatMap((task_id, t) =>
      variants.flatMap((variant, v) =>
        Array.from({ length: trials }, (_, k) => ({
          case_id: `case-${a}-${t}-${v}-${k + 1}`,
          agent_name,
          task_id,
          variant,
          trial_index: k + 1,
          block: (a * tasks.length + t) * trials + k,
          fingerprint: `fingerprint-${a}-${t}-${v}-${k + 1}`,
        })),
      ),
    ),
  );
  return {
    schema_version: '1',
    whetstone_version: '0.1.0',
    run_id: '2026-01-02T03-04-05-abcd',
    created_at: '2026-01-02T03:04:05.000Z',
    config_path: 'whetstone.yaml',
    config_hash: 'c0ffee',
    repo: { path: 'repo', base_ref: 'main', dirty: false },
    seed: 'sample',
    trials,
    jobs: 2,
    baseline: variants[0] ?? 'baseline',
    case_count: matrix.length,
    agents: agents.map((name) => ({ name, kind: 'loop', version: '1.2.3', fingerprint: `agent ${name}` })),
    tasks: tasks.map((id) => ({
      id,
      title: null,
      commit: '0123456789abcdef0123456789abcdef01234567',
      fingerprint: `task ${id}`,
      submodules: [],
      lfs_pointers: [],
    })),
    variants: variants.map((name) => ({ name, description: `variant ${name}`, fingerprint: `variant ${name}` })),
    order: matrix.map((one) => one.case_id),
    case_matrix: matrix,
    isolation: { provider: 'process', level: 0, processes: 'pid-namespace', network: 'open', workspace: 'mount' },
    gateway: { mode: 'script', script: 'demo' },
    machine: {
      platform: 'linux',
      release: '6.1',
      arch: 'x64',
      cpus: 2,
      memory_bytes: 8 * 2 ** 30,
      node: 'v24.0.0',
      git: '2.47.0',
    },
    notes: [],
    ...overrides,
  };
}

export type Planned = Manifest['case_matrix'][number];

/** A row of a planned case; `outcome` fills the fields that follow from it. */
export function sampleRow(planned: Planned, outcome: CaseRow['outcome'], overrides: Partial<CaseRow> = {}): CaseRow {
  const { case_id, agent_name, task_id, variant, trial_index, fingerprint } = planned;
  const isPassed = outcome === 'passed';
  const isError = outcome === 'error';
  return {
    schema_version: '1',
    whetstone_version: '0.1.0',
    run_id: '2026-01-02T03-04-05-abcd',
    case_id,
    fingerprint,
    agent_name,
    agent_kind: 'loop',
    task_id,
    category: 'bugfix',
    difficulty: null,
    variant,
    trial_index,
    repo_ref: '0123456789abcdef0123456789abcdef01234567',
    network: 'open',
    outcome,
    failure_class: isPassed ? null : isError ? 'provider-outage' : 'agent',
    evidence: isPassed ? null : isError ? 'The model answered 503 three times.' : '`npm test` exited with 1.',
    status: isPassed ? 'completed' : isError ? 'internal_error' : 'validation_failed',
    confidence: isPassed ? 'high' : 'medium',
    started_at: '2026-01-02T03:04:06.000Z',
    duration_seconds: 14.25,
    agent_duration_seconds: 12.5 + trial_index,
    cpu_seconds: null,
  peak_memory_bytes: null,
  agent_exit_code: 0,
    timeout: false,
    validation_status: isPassed ? 'passed' : isError ? 'skipped' : 'failed',
    validation_results: isError
      ? []
      : [
          {
            command: 'npm test',
            exit_code: isPassed ? 0 : 1,
            duration_seconds: 1.5,
            ended: 'exit',
            stdout_path: 'verify/validation-1.stdout.log',
            stderr_path: 'verify/validation-1.stderr.log',
          },
        ],
    hard_evaluation_status: 'not_configured',
    hard_evaluation: [],
    protected_paths_touched: [],
    changed_files: isError ? null : 2,
    insertions: isError ? null : 12,
    deletions: isError ? null : 3,
    touched_paths: isError ? [] : ['src/parser.js', 'test/parser.test.js'],
    unportable_paths: [],
    usage_source: 'gateway',
    input_tokens: 1000,
    output_tokens: 200,
    cache_read_tokens: 0,
    cache_write_tokens: 0,
    reasoning_tokens: 0,
    total_tokens: 1200,
    cost_usd: 0.02,
    model_calls: 5,
    tool_calls: 4,
    tool_calls_by_name: null,
    command_call_count: null,
    reasoning_step_count: null,
    reported_duration_seconds: null,
    models: ['scripted'],
    telemetry_status: 'collected',
    telemetry_gaps: [],
    retries: 0,
    ...overrides,
  };
}

/** What an agent saw of a variant that declares each kind of thing, under the names given. */
export function sampleExposure(name = 'brew-tea'): Exposure {
  const first = { event_index: 3, at: '2026-01-02T03:04:08.000Z', call_id: '1' };
  return {
    instructions: {
      path: 'AGENTS.md',
      in_requests: 'part',
      first_call: 'c1',
      read: null,
      tokens_estimate: 120,
    },
    skills: [
      { name, listed: true, triggered: 'confirmed', first, tokens_estimate: 300 },
      { name: 'unheard', listed: null, triggered: 'no', first: null, tokens_estimate: null },
    ],
    mcp_servers: [
      { name, offered: true, calls: 2, failures: 1, first, tokens_estimate: 40 },
      { name: 'unasked', offered: false, calls: 0, failures: 0, first: null, tokens_estimate: 0 },
    ],
    plugins: [
      {
        name: 'tea-house',
        version: '1.2.0',
        loaded: true,
        skills: [{ name, listed: true, triggered: 'attempted', first, tokens_estimate: null }],
      },
    ],
  };
}

/** Rows of all planned cases, by what `outcome` says of each; `undefined`: not finished. */
export function sampleRows(manifest: Manifest, outcome: (planned: Planned) => CaseRow['outcome'] | undefined): CaseRow[] {
  return manifest.case_matrix.flatMap((planned) => {
    const result = outcome(planned);
    return result === undefined ? [] : sampleRow(planned, result);
  });
}

/**
 * Two agents, seven tasks, two variants, two trials. `loop` is better with the variant on every task, `codex` much the same
 * with both, with one infrastructure error and one case that has not finished.
 */
export function sampleRun(): { manifest: Manifest; rows: CaseRow[] } {
  const tasks = ['fix-parser', 'add-flag', 'rename-module', 'speed-up', 'write-docs', 'fix-leak', 'port-tests'];
  const manifest = sampleManifest(
    { agents: ['loop', 'codex'], tasks, variants: ['baseline', 'agents-md'], trials: 2 },
    { notes: ['Task fix-leak installs a package in its setup.'] },
  );
  const rows = sampleRows(manifest, ({ agent_name, task_id, variant, trial_index }) => {
    const task = tasks.indexOf(task_id);
    if (agent_name === 'loop') {
      if (variant === 'agents-md') return task === 3 && trial_index === 2 ? 'failed' : 'passed';
      return task % 3 === 0 && trial_index === 1 ? 'passed' : 'failed';
    }
    if (task === 2 && variant === 'baseline' && trial_index === 2) return 'error';
    if (task === 6 && variant === 'agents-md' && trial_index === 2) return undefined;
    return (task + trial_index + (variant === 'baseline' ? 0 : 1)) % 3 === 0 ? 'failed' : 'passed';
  });
  return { manifest, rows };
}

/** Names and evidence as an enemy would choose them. */
export function hostileRun(): { manifest: Manifest; rows: CaseRow[] } {
  const manifest = sampleManifest(
    {
      agents: ['a|b`c`<img src=x onerror=alert(1)>'],
      tasks: ['=HYPERLINK("http://evil.example","click")', 'two\nlines'],
      variants: ['base"line\'', '\u001b[31mred\u001b[0m \u202eevil\u202c', '日本語の非常に長い名前のバリアント'],
      trials: 1,
    },
    {
      run_id: '[run](http://evil.example) & <b>',
      notes: ['| a | b |\n# heading\u001b]0;title\u0007'],
    },
  );
  const rows = manifest.case_matrix.map((planned, i) =>
    i % 2 === 0
      ? sampleRow(planned, 'passed', { models: ['+cmd|calc'] })
      : sampleRow(planned, 'failed', {
          evidence: '`` ]]>\u0000\u0008\u001b]8;;http://evil.example\u001b\\link\u001b]8;;\u001b\\ </failure> \u009b31m & "q"\ud800\r\n@everyone',
          touched_paths: ['a,b"c\n=1+1'],
          exposure: sampleExposure('\u001b[31mred\u001b[0m <img src=x onerror=alert(1)>'),
        }),
  );
  return { manifest, rows };
}
