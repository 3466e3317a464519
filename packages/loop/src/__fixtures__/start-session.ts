import { type Clock, systemClock } from '../control/clock.ts';
import { createAnthropicProfile } from '../profiles/anthropic-profile.ts';
import { Session } from '../session/session.ts';
import type { EventKind, SessionEvent, SessionEventOf } from '../events/session-event.ts';
import type { SessionOptions } from '../session/session-options.ts';
import { defineTool, type RegisteredTool } from '../tools/tool.ts';
import { type ModelStep, scriptedModel } from './scripted-model.ts';
import { temporaryEnvironment } from './temporary-directory.ts';

/** No waits between retries, but a record of how long they would have been. */
function instantClock(): Clock & { slept: number[] } {
  const slept: number[] = [];
  return {
    ...systemClock,
    slept,
    random: () => 0.5,
    sleep: async (milliseconds) => void slept.push(milliseconds),
  };
}

/** A session over a scripted model in a folder of its own; it keeps its events. */
export async function startSession(
  steps: readonly ModelStep[],
  { tools = [], ...options }: Partial<SessionOptions> & { tools?: RegisteredTool[] } = {},
) {
  const place = await temporaryEnvironment();
  const model = scriptedModel(steps);
  const profile = createAnthropicProfile({ model: 'fake-1' });
  for (const tool of tools) profile.toolRegistry.register(tool);
  const clock = instantClock();
  const session = new Session({ profile, environment: place.environment, model, clock, ...options });
  const events: SessionEvent[] = [];
  session.on((event) => events.push(event));
  return {
    session,
    profile,
    model,
    events,
    clock,
    place,
    kinds: () => events.map((event) => event.kind),
    of: <Kind extends EventKind>(kind: Kind) =>
      events.filter((event): event is SessionEventOf<Kind> => event.kind === kind),
    [Symbol.asyncDispose]: async () => {
      await session.close();
      await place[Symbol.asyncDispose]();
    },
  };
}

/** A tool with one optional integer `n`. */
export function customTool(
  name: string,
  executor: RegisteredTool['executor'],
  traits: Partial<RegisteredTool> = {},
): RegisteredTool {
  const parameters = { type: 'object', properties: { n: { type: 'integer' } } };
  return defineTool({ definition: { name, description: name, parameters }, executor, ...traits });
}

