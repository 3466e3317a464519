import { defineScript, type ScriptStep } from '@whetstone/gateway';

export const prompt = 'Write greet.sh, which says hello. Run it. Then let it say good day.';

const steps: readonly ScriptStep[] = [
  {
    text: 'I write the file.',
    calls: [{ tool: 'write', path: 'greet.sh', content: '# Greets.\necho hello\n' }],
  },
  { text: 'I run it.', calls: [{ tool: 'shell', command: 'sh greet.sh' }] },
  { calls: [{ tool: 'read', path: 'greet.sh' }] },
  { calls: [{ tool: 'edit', path: 'greet.sh', find: 'echo hello\n', replace: 'echo good day\n' }] },
];

/** How many replies the task takes when nothing goes wrong. */
export const replies = steps.length + 1;

/** How agents report to their model that they could not read a call. */
const unread = /\bJSON\b|\binvalid\b|\bvalidation failed\b|\bfailed to parse\b|\bmust have required\b/i;

/** The task for every agent. A call that its tool could not read is repeated, as a model would. */
export const script = defineScript({
  name: 'greet',
  play({ toolResults }) {
    const done = toolResults.filter(({ output }) => !unread.test(output));
    return steps[done.length] ?? { text: 'It says good day now.' };
  },
});

export const finalFiles = { 'greet.sh': '# Greets.\necho good day\n' };
