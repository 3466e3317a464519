import { mkdirSync, statSync, writeFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { WhetstoneError } from '@whetstone/errors';
import { totalTokens } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { createMask, type Mask } from '@whetstone/sandbox/mask';
import { keepFolder } from '../attempt/keep-folder.ts';
import type { StoredTurn } from '../eval/protocol.ts';
import { nameCases } from '../plan/case-id.ts';
import { hashJson } from '../plan/hash-json.ts';
import { type CaseLayout, caseLayout } from '../record/layout.ts';
import type { Manifest } from '../record/manifest.ts';
import type { CaseRow } from '../record/row.ts';
import { createRunRecord } from '../record/run-record.ts';
import { version } from '../version.ts';
import { makeScratch } from '../workspace/scratch-folder.ts';
import { newRunId } from './build-manifest.ts';
import { collectSecrets } from './collect-secrets.ts';
import { unpackTree } from './harbor-tree.ts';
import { importHarbor, isHarborJob } from './import-harbor.ts';
import { importInspect } from './import-inspect.ts';
import type { ImportedCase } from './imported-case.ts';
import { type ReportedRun, writeReport } from './write-report.ts';

export type ImportOptions = {
  outputDir: string;
  /** What the arm is called. Default: `imported`. */
  variant?: string;
  /** The score or reward that decides. Default: the only one. */
  score?: string;
  /** Where the agents of a Harbor job had their workspace, in the container: a folder, or an archive of one. Default: the only folder that it collected. */
  tree?: string;
};

/**
 * Makes a run of what another tool found: the logs of Inspect (`.eval`, `.json`), or the folder of a Harbor job. Its cases can be
 * compared, and their transcripts judged by evals.
 * @throws WhetstoneError `import-invalid` where the files are neither, or two cases are the same.
 */
export async function importRun(
  paths: readonly string[],
  { outputDir, variant = 'imported', score, tree }: ImportOptions,
): Promise<ReportedRun> {
  const sources = paths.map((path) => resolve(path));
  const tool = toolOf(sources);
  if (tree !== undefined && tool !== 'harbor') throw noTrees(sources);
  const cases: ImportedCase[] = [];
  const collected = new Set<string>();
  for (const source of sources) {
    if (tool === 'inspect') {
      cases.push(...(await importInspect(source, score)));
      continue;
    }
    const job = await importHarbor(source, { score, tree });
    cases.push(...job.cases);
    for (const folder of job.trees) collected.add(folder);
  }
  if (cases.length === 0) throw invalid('There is no case in it.', sources[0]);
  const numbered = withTrials(cases, sources);
  const ids = nameCases(
    numbered.map(({ agent, task, trial }) => ({ agent: agent.name, task, variant, trial })),
  );
  const manifest = manifestOf(numbered, ids, { tool, sources, variant, collected: [...collected] });
  const mask = createMask(collectSecrets([], undefined, process.env));
  await using scratch = await makeScratch();
  await using record = await createRunRecord(outputDir, manifest);
  for (const [index, one] of numbered.entries()) {
    const id = ids[index] ?? '';
    const files = await record.startCase(id);
    writeTranscript(one, files, mask);
    const kept = await keepTree(one, files, { mask, scratch: scratch.directory });
    await record.finishCase({ ...rowOf(one, id, { manifest, variant, mask }), ...kept });
  }
  await record.finish('finished');
  return writeReport(record);
}

type Tool = 'inspect' | 'harbor';

function toolOf(sources: readonly string[]): Tool {
  const tools = sources.map((source): Tool => {
    const found = statSync(source, { throwIfNoEntry: false });
    if (!found) throw invalid('There is no such file or folder.', source);
    if (found.isFile() && /\.(?:eval|json)$/.test(source)) return 'inspect';
    if (found.isDirectory() && isHarborJob(source)) return 'harbor';
    throw invalid('This is neither a log of Inspect nor the folder of a Harbor job.', source);
  });
  const [tool] = tools;
  if (tool === undefined || tools.some((one) => one !== tool))
    throw invalid('One run cannot have results of two tools.', sources[0]);
  return tool;
}

const noTrees = (sources: readonly string[]): WhetstoneError =>
  new WhetstoneError('import-invalid', 'A log of Inspect has no files of a workspace.', {
    where: sources.join(', '),
    hint: 'Leave out --tree. The transcripts can be judged: whetstone rescore RUN --eval FILE.',
  });

const invalid = (message: string, where: string | undefined): WhetstoneError =>
  new WhetstoneError('import-invalid', message, {
    ...present({ where }),
    hint: 'Give logs of Inspect (.eval or .json), or the folder of a job of Harbor, which has a folder with a result.json for each trial.',
  });

type Numbered = ImportedCase & { trial: number };

/** Trials that have no number of their own are counted. */
function withTrials(cases: readonly ImportedCase[], sources: readonly string[]): Numbered[] {
  const seen = new Map<string, Set<number>>();
  return cases.map((one) => {
    const cell = JSON.stringify([one.agent.name, one.task]);
    const taken = seen.get(cell) ?? new Set<number>();
    seen.set(cell, taken);
    const trial = one.trial ?? taken.size + 1;
    if (taken.has(trial)) {
      throw new WhetstoneError(
        'import-invalid',
        `Trial ${trial} of ${one.task} with ${one.agent.name} is there twice.`,
        { where: sources.join(', '), hint: 'Import the logs of two experiments as two runs.' },
      );
    }
    taken.add(trial);
    return { ...one, trial };
  });
}

const NOT_KNOWN = 'unknown';

function manifestOf(
  cases: readonly Numbered[],
  ids: readonly string[],
  {
    tool,
    sources,
    variant,
    collected,
  }: { tool: Tool; sources: readonly string[]; variant: string; collected: readonly string[] },
): Manifest {
  const createdAt = new Date();
  const agents = new Map(cases.map(({ agent }) => [agent.name, agent]));
  const tasks = new Map(cases.map((one) => [one.task, one.fingerprint]));
  const path = sources.join(', ');
  const taskIds = [...tasks.keys()];
  const leavesOut = cases.flatMap(({ tree }) => (tree && 'path' in tree ? tree.leavesOut : []));
  return {
    schema_version: '1',
    whetstone_version: version,
    run_id: newRunId(createdAt),
    created_at: createdAt.toISOString(),
    imported_from: {
      ...{ tool, path },
      ...(leavesOut.length > 0 && { trees_leave_out: [...new Set(leavesOut)] }),
    },
    config_path: sources[0] ?? '',
    config_hash: null,
    repo: { path: NOT_KNOWN, base_ref: NOT_KNOWN, dirty: null },
    seed: NOT_KNOWN,
    trials: Math.max(...cases.map(({ trial }) => trial)),
    jobs: 1,
    baseline: variant,
    case_count: cases.length,
    agents: [...agents.values()].map(({ name, kind, version: own }) => ({
      ...{ name, kind, version: own },
      fingerprint: hashJson({ tool, name, version: own }),
    })),
    tasks: [...tasks].map(([id, fingerprint]) => ({
      ...{ id, title: null, commit: NOT_KNOWN, fingerprint },
      ...{ submodules: [], lfs_pointers: [] },
    })),
    variants: [{ name: variant, description: '', fingerprint: hashJson({ tool, variant }) }],
    order: [...ids],
    case_matrix: cases.map(({ agent, task, trial, fingerprint }, index) => ({
      ...{ case_id: ids[index] ?? '', agent_name: agent.name, task_id: task, variant },
      ...{ trial_index: trial, block: taskIds.indexOf(task) * 10_000 + trial, fingerprint },
    })),
    isolation: {
      ...{ provider: NOT_KNOWN, level: 0, processes: NOT_KNOWN, network: NOT_KNOWN },
      workspace: NOT_KNOWN,
    },
    gateway: null,
    machine: null,
    notes: [
      `Imported from ${tool} (${path}). Its agents, its isolation and its verdicts are those of that tool; Whetstone enforced and checked nothing.`,
      ...(collected.length > 0
        ? [
            `The job collected several folders, so no tree was kept: ${collected.join(', ')}. To judge the work anew, import it with --tree and the one that was the workspace.`,
          ]
        : []),
    ],
  };
}

/** The transcript as one turn, which an eval gets whatever it sends. */
function writeTranscript({ events, agent }: ImportedCase, files: CaseLayout, mask: Mask): void {
  if (events.length === 0) return;
  const keep = (file: string, text: string) => writeFileSync(file, text, { mode: 0o600 });
  keep(files.events, events.map((event) => `${mask.text(JSON.stringify(event))}\n`).join(''));
  const turn: StoredTurn = {
    ...{ session: 0, text: null, status: 'completed', firstIndex: 0, eventCount: events.length },
  };
  keep(files.turns, `${JSON.stringify([turn])}\n`);
  const given = { capabilities: { conversation: true }, flags: {}, model: agent.name, secretsKnown: true };
  keep(files.evalInput, `${JSON.stringify(given)}\n`);
}

/** Keeps the files as the agent left them, like `run --keep-workspace`. Resolves with what the row says of them. */
async function keepTree(
  { tree }: ImportedCase,
  { workspace }: CaseLayout,
  { mask, scratch }: { mask: Mask; scratch: string },
): Promise<Pick<CaseRow, 'workspace_path' | 'artifact_notes'>> {
  if (tree === undefined) return {};
  if ('missing' in tree) return { artifact_notes: [`workspace: ${tree.missing}`] };
  const folder = tree.isArchive ? await unpackTree(tree.path, scratch) : tree.path;
  const limits = { bytes: Number.POSITIVE_INFINITY, entries: Number.POSITIVE_INFINITY };
  mkdirSync(workspace);
  const notes = await keepFolder(folder, workspace, { mask, name: 'workspace', limits });
  return {
    workspace_path: caseLayout('').workspace,
    ...(notes.length > 0 && { artifact_notes: notes }),
  };
}

function rowOf(
  one: Numbered,
  id: string,
  { manifest, variant, mask }: { manifest: Manifest; variant: string; mask: Mask },
): CaseRow {
  const { outcome, usage, events, score, failureClass = 'harness' } = one;
  const isKnown = events.length > 0;
  const gaps = [
    ...(usage === null ? ['usage_missing'] : []),
    ...(isKnown ? [] : ['model_calls_missing', 'tool_calls_missing']),
  ];
  return {
    schema_version: '1',
    whetstone_version: version,
    run_id: manifest.run_id,
    case_id: id,
    fingerprint: one.fingerprint,
    agent_name: one.agent.name,
    agent_kind: one.agent.kind,
    task_id: one.task,
    ...{ category: null, difficulty: null, variant },
    trial_index: one.trial,
    repo_ref: NOT_KNOWN,
    network: NOT_KNOWN,
    outcome,
    failure_class: outcome === 'passed' ? null : outcome === 'failed' ? 'agent' : failureClass,
    evidence: one.evidence === null ? null : mask.text(one.evidence),
    status: outcome === 'error' && failureClass === 'harness' ? 'internal_error' : 'completed',
    // Another tool verified the work, and nobody here saw how.
    confidence: outcome === 'error' ? 'low' : 'medium',
    started_at: one.startedAt,
    duration_seconds: one.seconds,
    agent_duration_seconds: one.agentSeconds,
    ...{ cpu_seconds: null, peak_memory_bytes: null, agent_exit_code: null, timeout: false },
    ...{ validation_status: 'skipped', validation_results: [] },
    ...{ hard_evaluation_status: 'not_configured', hard_evaluation: [], protected_paths_touched: [] },
    ...{ changed_files: null, insertions: null, deletions: null, touched_paths: [], unportable_paths: [] },
    usage_source: usage === null ? 'none' : 'agent',
    input_tokens: usage?.inputTokens ?? null,
    output_tokens: usage?.outputTokens ?? null,
    cache_read_tokens: usage?.cacheReadTokens ?? null,
    cache_write_tokens: usage?.cacheWriteTokens ?? null,
    reasoning_tokens: usage?.reasoningTokens ?? null,
    total_tokens: usage === null ? null : totalTokens(usage),
    cost_usd: one.costUsd,
    // The transcript of another tool need not have all of its calls.
    model_calls: null,
    tool_calls: isKnown ? events.filter(({ type }) => type === 'action.called').length : null,
    ...{ tool_calls_by_name: null, command_call_count: null, reasoning_step_count: null },
    reported_duration_seconds: null,
    models: [...one.models],
    telemetry_status: isKnown ? 'collected' : 'unavailable',
    telemetry_gaps: isKnown ? [...gaps, 'model_calls_missing'] : gaps,
    retries: 0,
    ...(score !== null && { score, max_score: 1 }),
    ...(isKnown && { assertions: [], turns: 1 }),
  };
}
