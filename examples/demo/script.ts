import { defineScript, type NeutralCall, type ScriptRequest, type ScriptStep } from '@whetstone/gateway';

/**
 * The model of the demo. From the request, it recognises the task, and a rule about the changelog. With the rule it updates
 * the changelog; without it, only in three of ten trials. It never gets the durations right: it changes how they are
 * written and forgets how they are read.
 */
export default defineScript({
  name: 'demo',
  play(request) {
    const task = TASKS.find(({ about }) => request.userText.includes(about));
    if (!task) return { text: 'I do not know this task.' };
    const steps: ScriptStep[] = [
      {
        text: `I will look at ${task.file} first.`,
        // Claude Code only changes a file after it has read it with its tool.
        calls: [
          { tool: 'shell', command: 'ls src' },
          { tool: 'read', path: task.file },
          { tool: 'read', path: 'CHANGELOG.md' },
        ],
      },
      { text: 'Now the change.', calls: task.change },
      ...(knowsTheRule(request) ? [{ calls: [noteInChangelog(task.note)] }] : []),
      { text: 'I run the tests.', calls: [{ tool: 'shell', command: 'node --test' }] },
      { text: task.summary },
    ];
    return steps[request.step] ?? { text: task.summary };
  },
});

function knowsTheRule(request: ScriptRequest): boolean {
  return request.text.includes('adds a line to CHANGELOG.md') || request.chance('changelog', 0.3);
}

const noteInChangelog = (note: string): NeutralCall => ({
  tool: 'edit',
  path: 'CHANGELOG.md',
  find: '## Unreleased\n',
  replace: `## Unreleased\n\n- ${note}\n`,
});

type DemoTask = {
  /** Words of the task's prompt. */
  about: string;
  file: string;
  change: NeutralCall[];
  note: string;
  summary: string;
};

/** A task that adds a function of a text, in a file of its own. */
function newFunction(name: string, file: string, code: readonly string[]): DemoTask {
  const before = "export { truncate } from './truncate.js';\n";
  return {
    about: `${name}(text)`,
    file: 'src/index.js',
    change: [
      {
        tool: 'write',
        path: `src/${file}.js`,
        content: ["import { assertString } from './assert.js';", '', ...code, ''].join('\n'),
      },
      {
        tool: 'edit',
        path: 'src/index.js',
        find: before,
        replace: `export { ${name} } from './${file}.js';\n${before}`,
      },
    ],
    note: `New: \`${name}\`.`,
    summary: `${name} is there and exported.`,
  };
}

const TASKS: DemoTask[] = [
  {
    about: "truncate('exactly', 7)",
    file: 'src/truncate.js',
    change: [
      {
        tool: 'edit',
        path: 'src/truncate.js',
        find: '  if (text.length < width) return text;\n',
        replace: '  if (text.length <= width) return text;\n',
      },
    ],
    note: '`truncate` leaves a text that fits exactly.',
    summary: 'A text that fits exactly is no longer cut.',
  },
  newFunction('titleCase', 'title-case', [
    '/** Puts a capital at the start of every word. */',
    'export function titleCase(text) {',
    "  assertString(text, 'text');",
    '  return text.replaceAll(/(^|\\s)(\\S)/g, (_, space, letter) => space + letter.toUpperCase());',
    '}',
  ]),
  {
    about: 'formatDuration(90_000_000)',
    file: 'src/duration.js',
    change: [
      {
        tool: 'edit',
        path: 'src/duration.js',
        find: "const UNITS = [\n  ['h', 3_600_000],\n",
        replace: "const UNITS = [\n  ['d', 86_400_000],\n  ['h', 3_600_000],\n",
      },
    ],
    note: '`formatDuration` knows days.',
    summary: 'Durations know days now.',
  },
  newFunction('initials', 'initials', [
    '/** The first letters of the words, as capitals. */',
    'export function initials(text) {',
    "  assertString(text, 'text');",
    "  return text.split(/\\s+/).map((word) => word.slice(0, 1).toUpperCase()).join('');",
    '}',
  ]),
  newFunction('countWords', 'count-words', [
    '/** The number of words, whatever space is between them. */',
    'export function countWords(text) {',
    "  assertString(text, 'text');",
    "  return text.split(/\\s+/).filter((word) => word !== '').length;",
    '}',
  ]),
  newFunction('reverseWords', 'reverse-words', [
    '/** The words in the opposite order. */',
    'export function reverseWords(text) {',
    "  assertString(text, 'text');",
    "  return text.split(' ').reverse().join(' ');",
    '}',
  ]),
];
