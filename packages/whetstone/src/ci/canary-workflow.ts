import {
  firstSteps,
  folderOf,
  keysOf,
  lastSteps,
  runOptions,
  type WorkflowFacts,
} from './github-workflow.ts';

/** Trials of each task in the baseline. */
const BASELINE_TRIALS = 5;

/**
 * A workflow for GitHub Actions that plays one night of the canary at 03:17 UTC. The nights are kept in a cache, which lives while a
 * night is read every week. Where it is gone, a night fails instead of becoming a new baseline: a person starts the workflow by hand,
 * with `start`, for that.
 */
export function canaryWorkflow(facts: WorkflowFacts): string {
  const { config } = facts;
  const state = `${folderOf(config)}.whetstone/runs/canary.json`;
  const start = runOptions({ ...facts, trials: BASELINE_TRIALS });
  return `# Written by \`whetstone ci canary\`. Every night costs money when its agents call a model.
# Start it once by hand with "start": that runs the baseline. A night that finds a drift fails, so that GitHub tells you.
name: whetstone canary
on:
  schedule:
    - cron: '17 3 * * *'
  workflow_dispatch:
    inputs:
      start:
        description: Begin a new series of nights, with a new baseline
        type: boolean
        default: false
permissions: {}
concurrency:
  group: whetstone-canary
jobs:
  night:
    runs-on: ubuntu-latest
    timeout-minutes: 180
    permissions:
      contents: read
    steps:
${firstSteps(facts)}      - uses: actions/cache/restore@v4
        with:
          path: ${state}
          key: whetstone-canary-\${{ github.run_id }}-\${{ github.run_attempt }}
          restore-keys: whetstone-canary-
      - if: inputs.start
        run: whetstone canary start --force ${start}
${keysOf(facts.variables)}      - if: '!inputs.start'
        run: whetstone canary run ${runOptions(facts)}
${keysOf(facts.variables)}      - if: always() && hashFiles('${state.replaceAll("'", "''")}') != ''
        uses: actions/cache/save@v4
        with:
          path: ${state}
          key: whetstone-canary-\${{ github.run_id }}-\${{ github.run_attempt }}
${lastSteps(facts)}`;
}
