import { expect, test } from 'vitest';
import { agentFamilies } from '../agent-family.ts';
import { canonicalRequest } from './canonical-request.ts';

const texts = [
  '/a'.repeat(50_000),
  `${'a/'.repeat(50_000)}.codex`,
  '-----BEGIN PRIVATE KEY-----\n'.repeat(3_750),
  '-----BEGIN '.repeat(10_000),
  'sk-'.repeat(32_500),
  'Recent commits:\n'.repeat(5_000),
  `Recent commits:\n${'abcdef0 abcdef0 '.repeat(5_000)}`,
  `${'/opencode'.repeat(5_000)}\``,
  `${'a_'.repeat(50_000)}_1234567890123_`,
  '<current_datetime>'.repeat(5_000),
  '<timezone>'.repeat(5_000),
  '0'.repeat(100_000),
  'deadbeef-'.repeat(10_000),
  'Wall time: '.repeat(7_500),
  '1234-12-12 '.repeat(7_500),
  '<available_skills>\n'.repeat(5_000),
  `<available_skills>\n${'</skill>\n<skill>'.repeat(5_000)}`,
  "(Available: 'a', ".repeat(5_000),
  `(Available: 'a'${", 'a'".repeat(15_000)}`,
];

test.each(agentFamilies)('no text takes the rules for %s more than linear time', (family) => {
  const startedAt = process.cpuUsage();
  for (const text of texts) {
    canonicalRequest({ method: 'POST', path: '/v1/messages', body: { text }, family, names: {} });
  }
  // Linear patterns take a tenth of a second, quadratic ones several. CPU time, because other programs take time as well.
  expect(process.cpuUsage(startedAt).user).toBeLessThan(1_000_000);
});

const masked = (text: string, family: (typeof agentFamilies)[number] = 'unknown', names = {}): unknown =>
  canonicalRequest({ method: 'POST', path: '/v1/x', body: { text }, family, names }).request.text;

test.each([
  ['at 2026-11-21T23:38:50.398Z and 2026-11-21 10:11', 'at <time> and <time>'],
  ["Today's date: Sat Nov 21 2026, or Saturday, November 21, 2026", "Today's date: <date>, or <date>"],
  ['Sat Nov 21 23:52:56 UTC 2026', '<time>'],
  ['in /tmp/x-1/home/.codex/skills and ~/.codex', 'in <home>/.codex/skills and ~/.codex'],
  ['id 1b4e28ba-2fa1-11d2-883f-0016d3cca427.', 'id <uuid>.'],
  ['version 1.2.3 of 12-34, src/a.ts:2026', 'version 1.2.3 of 12-34, src/a.ts:2026'],
])('%j', (text, expected) => {
  expect(masked(text)).toBe(expected);
});

test('names are replaced before the rules apply, the longest first, and only whole names', () => {
  const names = { '/w': '<workspace>', '/w/home': '<home>' };
  expect(masked('/w/a.ts /work /w/home/.x (/w)', 'unknown', names)).toBe(
    '<workspace>/a.ts /work <home>/.x (<workspace>)',
  );
});

test.each([
  ['claude-code', 'Recent commits:\n62a37a6 Start\n1f2e3d4 Go on\nEnd', 'Recent commits:\n<commits>\nEnd'],
  ['qwen-code', 'Recent commits:\ngit: 62a37a6 Start\n```', 'Recent commits:\n<commits>\n```'],
  [
    'opencode',
    'Use `/tmp/s-1/tmp/opencode` for temporary files.',
    'Use `<tmp>/opencode` for temporary files.',
  ],
  ['opencode', 'See `/srv/opencode` and more.', 'See `/srv/opencode` and more.'],
  [
    'gemini-cli',
    'The directory is: /h/.gemini/tmp/w-1\n',
    'The directory is: <home>/.gemini/tmp/<project>\n',
  ],
  ['qwen-code', 'Exit Code: 0\nProcess Group PGID: 40\n', 'Exit Code: 0\nProcess Group PGID: <id>\n'],
  ['gemini-cli', 'Background PIDs: 40, 41\nEnd', 'Background PIDs: <id>\nEnd'],
] as const)('%s: %j', (family, text, expected) => {
  expect(masked(text, family)).toBe(expected);
});

test('requests that list the skills of Gemini CLI in another order are equal', () => {
  const request = (names: string[]) => {
    const skills = names.map((name) => `  <skill>\n    <name>${name}</name>\n  </skill>`).join('\n');
    const list = `<available_skills>\n${skills}\n</available_skills>`;
    const hint = `By name (Available: ${names.map((name) => `'${name}'`).join(', ')}). Go.`;
    const parametersJsonSchema = { properties: { name: { enum: names }, other: { enum: names } } };
    const body = {
      systemInstruction: { parts: [{ text: `# Skills\n\n${list}\n\n# More` }] },
      tools: [{ functionDeclarations: [{ description: hint, parametersJsonSchema }] }],
    };
    return canonicalRequest({ method: 'POST', path: '/v1beta/x', body, family: 'gemini-cli', names: {} });
  };
  const [one, other] = [request(['b', 'a', 'c']), request(['c', 'b', 'a'])];
  expect(other.request.systemInstruction).toEqual(one.request.systemInstruction);
  expect(JSON.stringify(one.request)).toContain("(Available: 'a', 'b', 'c'). Go.");
  // The order of other lists may mean something.
  expect(other.key).not.toBe(one.key);
  expect(request(['b', 'a']).key).not.toBe(request(['b', 'c']).key);
});

test("an agent's own rules only apply to that agent", () => {
  const text = 'functionCall read_file_1763767970398_2';
  expect(masked(text, 'gemini-cli')).toBe('functionCall read_file_<id>');
  expect(masked(text, 'codex')).toBe(text);
});
