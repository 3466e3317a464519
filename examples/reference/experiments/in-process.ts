// Reference: "Using agents in experiments".
import { defineExperiment } from 'whetstone';
import inProcess from '../agents/in-process.js';

export default defineExperiment({
  agent: inProcess,
  runs: 1,
  flags: { tone: 'warm' },
  model: 'tier-1',
  evals: 'in-process',
});
