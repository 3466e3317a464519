import { expect, test } from 'vitest';
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
