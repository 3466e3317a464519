import { expect, test } from 'vitest';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import { LocalExecutionEnvironment } from '../environment/local-environment.ts';
import { createGeminiProfile } from '../profiles/gemini-profile.ts';
import { createOpenAiProfile } from '../profiles/openai-profile.ts';
import { checkBudget } from './budget.ts';
import { resolveSessionConfig, type SessionConfig } from './session-config.ts';

test.each([
  [{ maxToolRounds: 3 }, 'SessionConfig.maxToolRounds does not exist.', /mean maxToolRoundsPerInput\?/],
  [{ max_turns: 3 }, 'SessionConfig.max_turns does not exist.', /mean maxTurns\?/],
  [{ maxTurns: '3' }, 'SessionConfig.maxTurns is "3"; it must be a number of 0 or more.', undefined],
  [{ maxTurns: -1 }, 'SessionConfig.maxTurns is -1; it must be a number of 0 or more.', undefined],
  [
    { enableLoopDetection: 'no' },
    'SessionConfig.enableLoopDetection is "no"; it must be true or false.',
    undefined,
  ],
  [
    { steeringMode: 'now' },
    'SessionConfig.steeringMode is "now"; it must be "after_round" or "tool_boundary".',
    undefined,
  ],
  [{ reasoningEffort: 3 }, 'SessionConfig.reasoningEffort is 3; it must be a text.', undefined],
  [
    { toolOutputLimits: { shell: 'x' } },
    /toolOutputLimits is \{"shell":"x"\}; it must be an object of numbers/,
    undefined,
  ],
])('a setting that does not exist or fit is refused: %j', (config, message, hint) => {
  expect(() => resolveSessionConfig(config as Partial<SessionConfig>)).toThrow(
    expect.objectContaining({
      code: 'session-option-invalid',
      message: expect.stringMatching(message),
      ...(hint && { hint: expect.stringMatching(hint) }),
    }),
  );
});

test('a misspelt limit of the budget is refused, and an undefined setting has its default', () => {
  expect(() => checkBudget({ cost: 3 } as object)).toThrow(/Budget.cost does not exist/);
  expect(resolveSessionConfig({ maxRetries: undefined as never }).maxRetries).toBe(2);
});

test.each([
  [{ hook: {} }, 'SessionOptions.hook does not exist.'],
  [{ hooks: { beforeTol: () => undefined } }, 'SessionOptions.hooks.beforeTol does not exist.'],
  [{ hooks: { beforeTool: 'deny' } }, 'SessionOptions.hooks.beforeTool is "deny"; it must be a function.'],
  [{ subagents: { max: 1 } }, 'SessionOptions.subagents.max does not exist.'],
  [{ askUser: 'yes' }, 'SessionOptions.askUser is "yes"; it must be true or false.'],
  [{ config: 5 }, 'SessionOptions.config is 5; it must be an object.'],
  [{ model: undefined }, 'SessionOptions.model is missing; it must be a model, an object with doStream().'],
])('an option of a session that does not exist or fit is refused: %j', async (options, message) => {
  await expect(startSession([], options as object)).rejects.toMatchObject({
    code: 'session-option-invalid',
    message,
  });
});

test('hooks may be an object of a class with fields of its own', async () => {
  class Guard {
    asked = 0;
    beforeTool(): undefined {
      this.asked += 1;
    }
  }
  const guard = new Guard();
  await using run = await startSession([calls(toolCall('tick', {})), says('ok')], {
    hooks: guard,
    tools: [customTool('tick', () => 'tock')],
  });
  await run.session.submit('go');
  expect(guard.asked).toBe(1);
});

test('a misspelt option of a profile or an environment is refused', () => {
  expect(() => createOpenAiProfile({ modle: 'x' } as never)).toThrow(/ProfileOptions.modle does not exist/);
  expect(() => createGeminiProfile({ model: 5 as never })).toThrow(
    /ProfileOptions.model is 5; it must be a text/,
  );
  expect(() => new LocalExecutionEnvironment({ workingDir: '.' } as object)).toThrow(
    /LocalEnvironmentOptions.workingDir does not exist/,
  );
});
