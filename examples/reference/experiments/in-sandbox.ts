// Reference: "Using agents in experiments".
import { defineExperiment } from 'whetstone';
import inSandbox from '../agents/in-sandbox.js';

export default defineExperiment({
  agent: inSandbox,
  runs: 1,
  evals: ['in-sandbox', 'fixtures'],
});
