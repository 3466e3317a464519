import type { ToolCallPart } from '../conversation/turn.ts';
import { charactersOfRequest, contextWindow } from './context-window.ts';
import type { LoopContext } from './loop-context.ts';

const WARN_AT = 0.8;
const CHARACTERS_PER_TOKEN = 4;

/** Warns the host once the context window is nearly full (loop spec 5.5). Returns whether it did. */
export function warnAboutContext(context: LoopContext): boolean {
  const tokens = charactersOfRequest(context) / CHARACTERS_PER_TOKEN;
  const window = contextWindow(context);
  const share = tokens / window;
  if (share <= WARN_AT) return false;
  const message = `Context usage at ~${Math.round(share * 100)}% of the context window`;
  context.emit('WARNING', { code: 'context-usage', message, data: { tokens: Math.round(tokens), window } });
  return true;
}

/** Warns the model and the host when the last tool calls repeat in a cycle (loop spec 2.10). Returns whether it did. */
export function warnAboutLoop(
  { config, loopDetector, tools, history, emit }: LoopContext,
  calls: readonly ToolCallPart[],
): boolean {
  if (!config.enableLoopDetection) return false;
  const period = loopDetector.observe(calls, tools);
  if (period === undefined) return false;
  const message =
    `Loop detected: the last ${config.loopDetectionWindow} tool calls follow a repeating pattern. ` +
    'Try a different approach.';
  history.appendSteering(message);
  emit('LOOP_DETECTION', { message, period });
  return true;
}
