import type { JsonValue, StreamEventOf } from '@whetstone/events';
import { present } from '@whetstone/events/present';
import { textIn } from '../../kit/fields.ts';

/** The start of a session, from fields of native items. Fields that are not text are left out. */
export function sessionStarted(
  runtime: string,
  sessionId: string,
  fields: Record<'runtimeVersion' | 'model' | 'workingDir', JsonValue | undefined>,
  moment: { at?: string } = {},
): StreamEventOf<'session.started'> {
  const runtimeVersion = textIn(fields.runtimeVersion);
  const model = textIn(fields.model);
  const workingDir = textIn(fields.workingDir);
  return {
    type: 'session.started',
    sessionId,
    runtime,
    ...present({ runtimeVersion, model, workingDir }),
    ...moment,
  };
}
