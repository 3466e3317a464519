import { defineExperiment } from 'whetstone';

export default defineExperiment({ agent: { kind: 'loop', profile: 'openai' }, evals: 'code' });
