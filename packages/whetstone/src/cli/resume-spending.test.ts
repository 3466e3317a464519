import { join } from 'node:path';
import { expect, test } from 'vitest';
import { makeProgram, makeProject } from './__fixtures__/project.ts';

test('what a case used before it ended in an error counts when a resumed run runs it again', async () => {
  const telemetry = '{"prompt_tokens":100,"completion_tokens":20,"tool_calls_by_name":{"bash":2}}';
  using project = makeProject({
    agents: {
      writer: {
        script: `echo '${telemetry}' > "$CONTEXT_EVAL_TELEMETRY_FILE"; echo done >> README.md`,
        keys: { telemetry: { collector: 'json-file' } },
      },
    },
  });
  const verifier = join(project.root, 'verifier');
  project.writeTasks([{ id: 'one', prompt: 'Do it.', validation: { commands: [[verifier]] } }]);
  const row = () => project.latest().rows[0];
  expect(await project.whetstone(['run'])).toMatchObject({ exitCode: 1 });
  expect(row()).toMatchObject({ failure_class: 'verifier', total_tokens: 120, retries: 0 });
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 1 });
  expect(row()).toMatchObject({ failure_class: 'verifier', total_tokens: 240, retries: 1 });
  makeProgram(verifier, 'true');
  expect(await project.whetstone(['run', '--resume', 'latest'])).toMatchObject({ exitCode: 0 });
  expect(row()).toMatchObject({
    ...{ outcome: 'passed', retries: 2, total_tokens: 360, input_tokens: 300, output_tokens: 60 },
    ...{ tool_calls: 6, tool_calls_by_name: { bash: 6 } },
  });
});
