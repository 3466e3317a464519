import { version } from '../version.ts';
import { runOptions, shellText, type WorkflowFacts, yamlText } from './github-workflow.ts';

/** A job for GitLab CI, to `include` in `.gitlab-ci.yml`. Keys come from masked variables of the project. */
export function gitlabPipeline(facts: WorkflowFacts, contextPaths: readonly string[]): string {
  const { config, agents } = facts;
  const folder = config.includes('/') ? `${config.slice(0, config.lastIndexOf('/'))}/` : '';
  const paths = [
    ...contextPaths,
    config,
    `${folder}contexts/**`,
    `${folder}tasks.yaml`,
    `${folder}tasks/**`,
  ].map(
    // Two stars at the end match one level only.
    (path) => path.replace(/\/\*\*$/, '/**/*'),
  );
  const install = agents.length === 0 ? '' : `    - whetstone agents install ${agents.join(' ')}\n`;
  return `# Written by \`whetstone ci gitlab\`. Include it in .gitlab-ci.yml:
#   include: [{ local: .gitlab/whetstone.yml }]
# The keys of providers are masked variables of the project. WHETSTONE_GITLAB_TOKEN is a project access token with the
# scope api and the role Reporter: the comment needs it, and the job passes it to nothing else. A merge request from a
# fork runs in the project of the fork, which has none of these variables.
whetstone:
  image: node:24
  rules:
    - if: $CI_PIPELINE_SOURCE == "merge_request_event"
      changes:
        paths:
${paths.map((path) => `          - ${yamlText(path)}\n`).join('')}  variables:
    GIT_DEPTH: 0
  timeout: 3h
  cache:
    key:
      files: [package-lock.json]
      prefix: whetstone
    paths: [${folder}.whetstone/environments.tar]
  script:
    - npm install --global whetstone@${version}
    - test ! -e ${folder}.whetstone/environments.tar || whetstone environments restore ${folder}.whetstone/environments.tar
${install}    - whetstone ci run ${runOptions(facts)}
  after_script:
    - whetstone environments save ${folder}.whetstone/environments.tar
    - whetstone ci publish -c ${shellText(config)} --junit ${folder}whetstone-junit.xml
  artifacts:
    when: always
    paths: [${folder}.whetstone/runs]
    reports:
      junit: ${folder}whetstone-junit.xml
`;
}
