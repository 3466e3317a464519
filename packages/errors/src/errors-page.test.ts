import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { type ErrorCode, errorTable, exitCodes } from './index.ts';
import { agentErrors } from './table/agents.ts';
import { eventErrors } from './table/events.ts';
import { gatewayErrors } from './table/gateway.ts';
import { loopErrors } from './table/loop.ts';
import { sandboxErrors } from './table/sandbox.ts';
import { whetstoneErrors } from './table/whetstone.ts';

const SECTIONS = [
  ['The evaluator and the command line', whetstoneErrors],
  ['Agents', agentErrors],
  ['Sandboxes', sandboxErrors],
  ['The gateway', gatewayErrors],
  ['The loop and its model calls', loopErrors],
  ['Reading and writing other formats', eventErrors],
] as const;

const INTRODUCTION = `# Errors

Written by \`npm test -- -u\` from \`packages/errors/src/table\`; \`npm test\` fails where the page is something else.

Every error that a user can act on has a code. \`whetstone errors CODE\` prints an entry of this page, and a command that
was called with \`--json\` prints its error as \`{"error":{"code","class","message","where","hint","exit_code"}}\`. In a
program, \`error.code\` of a \`WhetstoneError\` is one of these codes, and \`error.class\` says who has to act:

| class     | who has to act                                                                                   | exit code |
| --------- | ------------------------------------------------------------------------------------------------ | --------- |
| \`usage\`   | you: the command line, the configuration or your program asks for something that cannot be done  | 2         |
| \`task\`    | the author of the task or the variant: its setup fails, or a file that it names is missing       | 2         |
| \`sandbox\` | whoever runs the machine: a command could not be run, or a file of a sandbox not read or written | 3         |
| \`model\`   | the model or its provider, which did not answer as it should                                     | 3         |
| \`harness\` | whoever runs Whetstone: it could not do its work                                                 | 3         |

An error that ends a case decides its [outcome](results.md#outcomes) by its class: \`task\` and \`sandbox\` are failure
classes of their own, and all others are \`harness\`.
`;

function entry(code: ErrorCode): string {
  const { class: errorClass, meaning, fix } = errorTable[code];
  const exitCode = exitCodes[errorClass];
  return `### ${code}\n\n${meaning} (Class \`${errorClass}\`, exit code ${exitCode}.)\n\n**Fix:** ${fix}\n`;
}

test('docs/errors.md has every code, with its meaning, its fix, its class and its exit code', async () => {
  const sections = SECTIONS.map(([title, table]) => {
    const codes = Object.keys(table) as ErrorCode[];
    expect(codes).toEqual(codes.toSorted());
    return `## ${title}\n\n${codes.map(entry).join('\n')}`;
  });
  const listed = SECTIONS.flatMap(([, table]) => Object.keys(table));
  expect(listed.toSorted()).toEqual(Object.keys(errorTable).toSorted());
  await expect([INTRODUCTION, ...sections].join('\n')).toMatchFileSnapshot('../../../docs/errors.md');
});

test('a code is spelled in kebab case and starts with its subject', () => {
  const codes = Object.keys(errorTable);
  expect(codes.filter((code) => !/^[a-z]+(-[a-z]+)+$/.test(code))).toEqual([]);
  expect(codes.filter((code) => /^(invalid|missing|unknown|wrong|bad|no|not)-/.test(code))).toEqual([]);
});

test('every code is the code of some error', () => {
  const packages = join(import.meta.dirname, '../..');
  const thrown = globSync('*/src/**/*.ts', { cwd: packages })
    .filter((file) => !file.startsWith('errors/') && !file.endsWith('.test.ts'))
    .map((file) => readFileSync(join(packages, file), 'utf8'))
    .join('\n');
  expect(Object.keys(errorTable).filter((code) => !thrown.includes(`'${code}'`))).toEqual([]);
});
