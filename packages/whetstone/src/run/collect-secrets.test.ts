import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import type { Finished } from '../cli/__fixtures__/command-line.ts';
import { everything, makeProject, type Project } from '../cli/__fixtures__/project.ts';
import type { CaseRow } from '../record/row.ts';

const KEY = 'canary/Value+42=xyz';
const LITERAL = 'literal-of-the-config';
const ENVIRONMENT = { CANARY_KEY: KEY, OTHER_TOKEN: 'another-secret', AWS_PROFILE: 'of-the-parent' };

/** Encodings in which a secret could be found again. */
const SPELLINGS = [
  KEY,
  LITERAL,
  encodeURIComponent(KEY),
  Buffer.from(KEY).toString('hex'),
  Buffer.from(KEY).toString('base64').slice(0, 24),
  Buffer.from(`x${KEY}`).toString('base64').slice(2, 24),
  'another-secret',
  'of-the-parent',
];

const env = { MODEL_KEY: `\${CANARY_KEY}`, LITERAL_TOKEN: LITERAL, PLAIN: 'plain-value' };

describe('secrets that agents are given', () => {
  let project: Project;
  let finished: Finished;
  let rows: ReadonlyMap<string, CaseRow>;
  const fileOf = (agent: string, name: string) =>
    join(project.latest().directory, 'cases', rows.get(agent)?.case_id ?? '', name);

  beforeAll(async () => {
    project = makeProject({
      tasks: [
        {
          id: 'one',
          prompt: 'Leak.',
          validation: { commands: ['cat leaked.txt >&2; ! grep -q canary leaked.txt'] },
        },
      ],
      agents: {
        careful: { script: 'test -n "$MODEL_KEY" && echo "$PLAIN" > leaked.txt', keys: { env } },
        prints: {
          script: `env; echo "$MODEL_KEY" >&2; printf %s "$MODEL_KEY" | base64; printf 'x%s' "$MODEL_KEY" | base64
            printf %s "$MODEL_KEY" | od -An -v -tx1 | tr -d ' \\n'; echo > leaked.txt`,
          keys: { env },
        },
        writes: {
          script: `echo "key = $MODEL_KEY;" > leaked.txt; mkdir "$2/sub"; echo "$LITERAL_TOKEN" > "$2/sub/notes.txt"
            printf %s "$MODEL_KEY" | base64 > "$2/encoded.txt"; echo nothing > "$2/plain.txt"
            ln -s "/tmp/$LITERAL_TOKEN" "$2/link"; touch "$2/$LITERAL_TOKEN" "file-$LITERAL_TOKEN"`,
          keys: { env },
        },
        compresses: { script: 'printf "\\0%s" "$MODEL_KEY" > data.bin; echo > leaked.txt', keys: { env } },
        reports: {
          script: `printf '{"type":"item.completed","item":{"type":"agent_message","text":"key %s"}}\\n' "$MODEL_KEY"
            printf '{"type":"turn.failed","error":{"message":"bad key %s"}}\\n' "$MODEL_KEY"; exit 1`,
          keys: { env, telemetry: { collector: 'codex-jsonl' } },
        },
        measures: {
          script: `printf '{"model_name":"m-%s","total_tokens":3}' "$MODEL_KEY" > "$2/telemetry.json"; echo > leaked.txt`,
          keys: { env, telemetry: { collector: 'json-file' } },
        },
      },
    });
    finished = await project.whetstone(['run', '--jobs', '2'], ENVIRONMENT);
    expect(finished.exitCode, finished.stderr).toBe(1);
    rows = new Map(project.latest().rows.map((row) => [row.agent_name, row]));
  });
  afterAll(() => project[Symbol.dispose]());

  test.each(SPELLINGS)(
    '%s is nowhere below the run directory, nor in anything that is printed',
    async (secret) => {
      expect(everything(project.latest().directory).includes(secret)).toBe(false);
      expect(`${finished.stdout}${finished.stderr}`).not.toContain(secret);
    },
  );

  test('a masked copy has a note', () => {
    expect(readFileSync(fileOf('writes', 'changes.patch'), 'utf8')).toContain('+key = [masked];\n');
    expect(readFileSync(fileOf('writes', 'output/sub/notes.txt'), 'utf8')).toBe('[masked]\n');
    expect([...(rows.get('writes')?.artifact_notes ?? [])].sort()).toEqual([
      'changes.patch: secrets were masked; it may no longer apply',
      'output/encoded.txt: secrets were masked',
      'output/sub/notes.txt: secrets were masked',
    ]);
    expect(rows.get('writes')).toMatchObject({
      outcome: 'failed',
      touched_paths: ['file-[masked]', 'leaked.txt'],
    });
  });

  test('a copy without a secret is the file itself', () => {
    expect(rows.get('careful')).toMatchObject({ outcome: 'passed' });
    expect(rows.get('careful')).not.toHaveProperty('artifact_notes');
    expect(readFileSync(fileOf('careful', 'changes.patch'), 'utf8')).toContain('+plain-value\n');
    expect(readFileSync(fileOf('writes', 'output/plain.txt'), 'utf8')).toBe('nothing\n');
  });

  test('a patch whose binary part would hold a secret is left out', async () => {
    expect(existsSync(fileOf('compresses', 'changes.patch'))).toBe(false);
    expect(rows.get('compresses')).toMatchObject({
      outcome: 'passed',
      artifact_notes: ['changes.patch was left out: a secret is in a binary file (data.bin)'],
    });
    const shown = await project.whetstone(['show', 'latest', rows.get('compresses')?.case_id ?? '']);
    expect(shown).toMatchObject({ exitCode: 0, stderr: '' });
  });

  test('an agent sees nothing of the rest of the user’s environment', () => {
    const log = readFileSync(fileOf('prints', 'stdout.log'), 'utf8');
    expect(log).toContain('PLAIN=plain-value\n');
    expect(log).toContain('MODEL_KEY=[masked]\n');
    expect(log).not.toMatch(/CANARY_KEY|OTHER_TOKEN|AWS_PROFILE|NODE_COMPILE_CACHE/);
  });

  test.concurrent.each([
    [['report', 'latest', '--format', 'json']],
    [['report', 'latest']],
    [['show', 'latest']],
    [['run', '--dry-run']],
  ])('whetstone %j shows none of them', async (args) => {
    const { stdout, stderr } = await project.whetstone(args, ENVIRONMENT);
    for (const secret of SPELLINGS) expect(`${stdout}${stderr}`).not.toContain(secret);
  });

  test('a variable that is not set is an error before anything runs', async () => {
    const runs = project.runDirectories();
    const refused = await project.whetstone(['run', '--agent', 'prints']);
    expect(refused).toMatchObject({ exitCode: 2, stdout: '' });
    expect(refused.stderr).toContain('CANARY_KEY');
    expect(refused.stderr).toContain('export CANARY_KEY=');
    expect(project.runDirectories()).toEqual(runs);
  });
});
