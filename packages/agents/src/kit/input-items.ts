import { WhetstoneError } from '@whetstone/errors';
import { parseJson } from '@whetstone/events';
import { z } from 'zod';

const name = z.string().min(1);

const itemSchema = z.union([
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  /** A path of the workspace or an absolute one, or an address. */
  z.strictObject({ type: z.literal('image'), path: name }),
  z.strictObject({ type: z.literal('image'), url: name }),
  z.strictObject({ type: z.literal('skill'), name, path: name.exactOptional() }),
  /** An app, a connector or a plugin, with its address in the agent's own notation. */
  z.strictObject({ type: z.literal('mention'), name, path: name.exactOptional() }),
  z.strictObject({ type: z.literal('file'), path: name }),
  /** A unified diff. */
  z.strictObject({ type: z.literal('diff'), diff: name }),
]);

/** One part of a prompt (provider taxonomy, "Inputs"). */
export type InputItem = z.infer<typeof itemSchema>;

const itemsSchema = z.array(itemSchema).min(1);

/**
 * Reads a prompt that is a JSON array of items. `text` is then the same in words. Any other prompt, JSON of other shapes
 * included, is text as it stands.
 */
export function readPrompt(prompt: string): { text: string; items?: readonly InputItem[] } {
  if (!/^\s*\[/.test(prompt)) return { text: prompt };
  const parsed = itemsSchema.safeParse(parseJson(prompt));
  return parsed.success ? { text: textOf(parsed.data), items: parsed.data } : { text: prompt };
}

/**
 * Refuses a prompt with an image for an agent that cannot be given one. Every other item has a form in words.
 *
 * @throws WhetstoneError `input-unsupported`
 */
export function refuseUnsupported(
  { items = [] }: { items?: readonly InputItem[] },
  inputs: readonly InputItem['type'][] = [],
  agent: string,
): void {
  if (inputs.includes('image') || !items.some(({ type }) => type === 'image')) return;
  throw new WhetstoneError('input-unsupported', `Agent ${agent} cannot be given an image.`, {
    hint: 'Leave the image out, or choose an agent that takes images (whetstone agents matrix).',
  });
}

/** Items in words, for agents that take only text. An image is only named. */
export const textOf = (items: readonly InputItem[]): string => items.map(inWords).join('\n\n');

function inWords(item: InputItem): string {
  switch (item.type) {
    case 'text':
      return item.text;
    case 'image':
      return `Image: ${'path' in item ? item.path : item.url}`;
    case 'skill':
      return `Use the skill ${item.name}.`;
    case 'mention':
      return `@${item.name}`;
    case 'file':
      return `File: ${item.path}`;
    case 'diff':
      return `\`\`\`diff\n${item.diff.replace(/\n$/, '')}\n\`\`\``;
  }
}
