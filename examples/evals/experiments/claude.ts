import { defineExperiment } from 'whetstone';

export default defineExperiment({
  agent: { kind: 'claude-code', model: 'claude-opus-4-8', permissions: { shell: 'allow' } },
  evals: 'code',
});
