import { defineScript, type NeutralCall, type ScriptStep } from '@whetstone/gateway';

/** The model of the tutorial's test: adds the function that the task names, and follows a rule when it reads one. */
export default defineScript({
  name: 'tutorial',
  play(request) {
    const name = /Add a function (\w+)\(text\)/.exec(request.userText)?.[1];
    const code = name === undefined ? undefined : FUNCTIONS[name];
    if (name === undefined || code === undefined) return { text: 'I do not know this task.' };
    const note: NeutralCall = {
      tool: 'edit',
      path: 'CHANGELOG.md',
      find: '## Unreleased\n',
      replace: `## Unreleased\n\n- New: ${name}\n`,
    };
    const steps: ScriptStep[] = [
      { calls: [{ tool: 'shell', command: `echo '${code}' >> src/greetings.js` }] },
      ...(request.text.includes('adds a line to CHANGELOG.md') ? [{ calls: [note] }] : []),
      { text: 'It is there.' },
    ];
    return steps[request.step] ?? { text: 'It is there.' };
  },
});

const FUNCTIONS: Readonly<Record<string, string>> = {
  shout: 'export const shout = (text) => text.toUpperCase();',
  whisper: 'export const whisper = (text) => text.toLowerCase();',
  backwards: 'export const backwards = (text) => [...text].reverse().join("");',
  twice: 'export const twice = (text) => text + " " + text;',
};
