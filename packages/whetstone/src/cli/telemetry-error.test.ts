import { expect, test } from 'vitest';
import { makeProject } from './__fixtures__/project.ts';

test('what is wrong with a telemetry file is in the row, in `show` and in the column of context-eval', async () => {
  const writing = (content: string) => ({
    script: `printf '%s' '${content}' > "$CONTEXT_EVAL_TELEMETRY_FILE"; echo done >> README.md`,
    keys: { telemetry: { collector: 'json-file' } },
  });
  using project = makeProject({
    agents: {
      partly: writing('{"prompt_tokens":-5,"completion_tokens":3,"total_tokens":"8"}'),
      broken: writing('{"prompt_tokens":'),
      right: writing('{"total_tokens":8}'),
      fails: {
        script: `echo '{"type":"turn.started"}'; echo '{"type":"turn.failed","error":{"message":"no paper"}}'; exit 1`,
        keys: { telemetry: { collector: 'codex-jsonl' } },
      },
    },
    tasks: [{ id: 'one', prompt: 'Do it.' }],
  });
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 1 });
  const wrong = 'Fields with a wrong value: prompt_tokens, total_tokens.';
  const rows = new Map(project.latest().rows.map((row) => [row.agent_name, row]));
  expect(rows.get('partly')).toMatchObject({ telemetry_status: 'partial', telemetry_error: wrong });
  expect(rows.get('broken')).toMatchObject({
    telemetry_status: 'error',
    telemetry_error: expect.stringContaining('JSON'),
  });
  expect(rows.get('right')).not.toHaveProperty('telemetry_error');
  // The agent failed, and its stream was read.
  expect(rows.get('fails')).toMatchObject({
    outcome: 'failed',
    evidence: expect.stringContaining('no paper'),
  });
  expect(rows.get('fails')).not.toHaveProperty('telemetry_error');
  const { stdout } = await project.whetstone(['report', 'latest', '--format', 'context-eval']);
  expect(stdout).toContain(`,partial,none,"${wrong}",`);
  expect(stdout).toContain(`,cases/${rows.get('fails')?.case_id}/stdout.log,,no paper,`);
  const shown = await project.whetstone(['show', 'latest', rows.get('partly')?.case_id ?? '']);
  expect(shown.stdout.replaceAll(/\s+/g, ' ')).toContain(`partial; ${wrong}`);
});
