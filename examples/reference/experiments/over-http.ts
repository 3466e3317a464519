// Reference: "Using agents in experiments".
import { defineExperiment } from 'whetstone';
import overHttp from '../agents/over-http.js';

export default defineExperiment({
  agent: overHttp,
  runs: 1,
  evals: 'over-http',
});
