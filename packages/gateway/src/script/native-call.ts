import { present } from '@whetstone/events/present';
import type { OfferedTool } from '../wire/neutral.ts';
import type { NativeCall } from './script.ts';
import type { TranslatedCall } from './translate.ts';

/** A native call, unless the request offers no tool of that name that takes such an input. */
export function callNativeTool(
  { name, input }: NativeCall,
  tools: readonly OfferedTool[],
): TranslatedCall | undefined {
  const kind = typeof input === 'string' ? 'custom' : 'function';
  const tool = tools.find((offered) => offered.name === name && offered.kind === kind);
  if (!tool) return undefined;
  const called = { name, ...present({ namespace: tool.namespace }) };
  return typeof input === 'string'
    ? { ...called, kind: 'custom', input }
    : { ...called, kind: 'function', input };
}
