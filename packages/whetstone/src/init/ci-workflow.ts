import { version } from '../version.ts';

/**
 * A workflow for GitHub Actions, started by hand or by a pull request that changes the experiment. `configFolder` is seen
 * from the root of the repository.
 */
export function ciWorkflow(
  agents: readonly string[],
  variables: readonly string[],
  configFolder: string,
): string {
  const prefix = configFolder === '.' ? '' : `${configFolder}/`;
  const keys = variables.map((name) => `          ${name}: \${{ secrets.${name} }}\n`).join('');
  const install = agents.length === 0 ? '' : `      - run: whetstone agents install ${agents.join(' ')}\n`;
  return `# A run costs money when its agents call a model. A pull request from a fork gets no secrets.
name: whetstone
on:
  workflow_dispatch:
  pull_request:
    paths: ["${prefix}contexts/**", "${prefix}tasks.yaml", "${prefix}whetstone.yaml"]
permissions:
  contents: read
jobs:
  run:
    runs-on: ubuntu-latest
    steps:
      - uses: actions/checkout@v4
        with:
          fetch-depth: 0   # a task may start from another commit
      - uses: actions/setup-node@v4
        with:
          node-version: 24
      - run: npm install --global whetstone@${version}
${install}      - run: whetstone run -c ${prefix}whetstone.yaml --trials 3 --jobs 2
${keys === '' ? '' : `        env:\n${keys}`}      - run: whetstone report latest -c ${prefix}whetstone.yaml >> "$GITHUB_STEP_SUMMARY"
        if: always()
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: whetstone
          path: ${prefix}.whetstone/runs
          include-hidden-files: true
`;
}
