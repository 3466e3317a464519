import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { makeTestImage } from '../../packages/sandbox/src/__fixtures__/test-image.ts';
import { KEY, runSealed, type SealedRow } from './run-sealed.ts';

const agents = ['codex', 'claude-code', 'gemini-cli', 'qwen-code', 'opencode', 'pi', 'copilot'];

let rows: SealedRow[];
let directory: string;

beforeAll(async () => {
  ({ rows, directory } = await runSealed('sealed-agents', agents, 'bubblewrap'));
});

const image = await makeTestImage();
afterAll(() => image?.remove());

test.each(agents)(
  '%s does its task with nothing but the gateway to reach',
  { tags: 'bubblewrap' },
  (agent) => {
    const row = rows.find(({ agent_name: name }) => name === agent);
    expect(row?.network).toBe('gateway-only');
    expect(row?.outcome, row?.evidence).not.toBe('error');
    expect(row?.model_calls).toBeGreaterThanOrEqual(2);
    const patch = readFileSync(join(directory, 'cases', row?.case_id ?? '', 'changes.patch'), 'utf8');
    expect(patch).toContain('+  if (text.length <= width) return text;');
  },
);

/** A connection to a name begins with asking for it, and there is no way to an address. */
test('no agent asked for a host', { tags: 'bubblewrap' }, () => {
  expect(Object.fromEntries(rows.map((row) => [row.agent_name, row.names_asked]))).toEqual(
    Object.fromEntries(agents.map((agent) => [agent, []])),
  );
});

test('no byte of the keys of the user is in anything that is kept', { tags: 'bubblewrap' }, () => {
  const bytes = Buffer.from(KEY);
  const forms = [
    KEY,
    [...KEY].reverse().join(''),
    bytes.toString('hex'),
    bytes.toString('base64').slice(0, -4),
  ];
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((one) =>
    one.isFile(),
  );
  expect(files.length).toBeGreaterThan(10 * agents.length);
  const found = files
    .map((one) => join(one.parentPath, one.name))
    .filter((file) => {
      const content = readFileSync(file);
      return forms.some((form) => content.includes(form));
    });
  expect(found).toEqual([]);
});

test.runIf(image)('an agent does its task in a container', { tags: 'docker' }, async () => {
  const { container, readable } = image ?? {};
  const sandbox = { provider: 'docker', ...container, readable };
  const run = await runSealed('sealed-agents-docker', ['pi'], sandbox);
  expect(run.rows).toMatchObject([{ network: 'gateway-only', outcome: 'passed', names_asked: [] }]);
  expect(run.rows[0]?.model_calls).toBeGreaterThanOrEqual(2);
});
