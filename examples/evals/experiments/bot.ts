import { defineExperiment } from 'whetstone';
import supportBot from '../agents/support-bot.js';

export default defineExperiment({
  agent: supportBot,
  evals: 'bot',
  runs: 2,
  variants: { baseline: {}, polite: { flags: { polite: true } } },
});
