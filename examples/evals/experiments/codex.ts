import { defineExperiment } from 'whetstone';

export default defineExperiment({
  agent: { kind: 'codex-cli', model: 'gpt-5.5', permissions: { shell: 'allow' } },
  evals: 'code',
});
