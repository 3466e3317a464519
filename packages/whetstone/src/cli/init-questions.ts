import type { Readable, Writable } from 'node:stream';
import { confirm, intro, isCancel, multiselect, text } from '@clack/prompts';
import type { Choices } from '../init/starter-files.ts';
import type { Surroundings } from '../init/surroundings.ts';
import { describeAgent } from './describe-agent.ts';

/** Asks what only a person knows, with what was found as the first answer. `undefined`: the person stopped. */
export async function askForChoices(
  found: Surroundings,
  suggested: Choices,
  streams: { input: Readable; output: Writable },
): Promise<Choices | undefined> {
  intro('Whetstone: what should be measured here?', streams);
  const { command, presets } = suggested;
  const agents =
    found.agents.length === 0 || command !== undefined || presets
      ? [...suggested.agents]
      : await multiselect({
          ...streams,
          message: 'Which agents? None: a stand-in that needs no key',
          options: found.agents.map((agent) => ({
            value: agent.kind as string,
            label: agent.kind,
            hint: describeAgent(agent),
          })),
          initialValues: [...suggested.agents],
          required: false,
        });
  if (isCancel(agents)) return undefined;
  const others = found.tests.slice(1).map(({ command }) => command);
  const testCommand = await text({
    ...streams,
    message: `Which command runs the tests?${others.length > 0 ? ` Also found: ${others.join(', ')}` : ''}`,
    initialValue: suggested.testCommand ?? '',
    placeholder: 'leave it empty to set it later in whetstone.yaml',
  });
  if (isCancel(testCommand)) return undefined;
  const [preparation] = found.preparations;
  const prepares =
    preparation !== undefined &&
    (await confirm({
      ...streams,
      message: `Install packages once for all cases with ${preparation.commands.join(' && ')} (${preparation.from})?`,
      initialValue: true,
    }));
  if (isCancel(prepares)) return undefined;
  const ci = await confirm({
    ...streams,
    message: 'Write a workflow for GitHub Actions?',
    initialValue: suggested.ci,
  });
  if (isCancel(ci)) return undefined;
  const given = testCommand?.trim() ?? '';
  const { testCommand: _, ...kept } = suggested;
  return { ...kept, agents, prepares, ci, ...(given !== '' && { testCommand: given }) };
}
