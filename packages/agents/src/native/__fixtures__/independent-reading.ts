/**
 * What a second reading of the recordings shares. Each agent has such a reading in its own folder, with the agent's field
 * names and no code of its mappers: the golden files are written by the mappers, so alone they prove only that nothing
 * changes.
 */
export type IndependentReading = {
  /** `<id> <name>` of each tool call, in order. */
  calls: string[];
  /** What the assistant said, in order. */
  texts: string[];
  /** All of the input, cached or not, and all of the output. */
  tokens: { input: number; output: number };
  /** `undefined`: the recording has no ending. */
  ending: 'completed' | 'failed' | 'waiting' | undefined;
};

/** An item as its agent writes it. */
export type Item = any;
export type Read = (items: Item[]) => IndependentReading;

export const sum = (values: (number | undefined)[]): number => values.reduce<number>((all, value) => all + (value ?? 0), 0);
export const unique = (lines: string[]): string[] => [...new Set(lines)];
export const ended = (isCompleted: boolean): 'completed' | 'failed' => (isCompleted ? 'completed' : 'failed');
export const skill = (name: string): string => (/^(Skill|skill|activate_skill)$/.test(name) ? 'load_skill' : name);

/** Loads of a skill that the user's message brings along. */
export const skillsOf = (texts: (string | undefined)[]): string[] =>
  texts.filter((text) => /^<skill\b/.test(text ?? '')).map((_, index) => `skill-${index + 1} load_skill`);

/** Messages of the Anthropic API. An error of the API is a message that no model wrote. */
const isAnswer = ({ type, message }: Item) =>
  type === 'assistant' && message.model !== '<synthetic>' && !/^\[API Error/.test(message.content?.[0]?.text);
const anthropicBlocks = (items: Item[]) => items.filter(isAnswer).flatMap(({ message }) => message.content ?? []);
export const anthropicCalls = (items: Item[]) =>
  anthropicBlocks(items)
    .filter(({ type }) => type === 'tool_use')
    .map(({ id, name, input }) => `${id} ${skill(name === 'tool_call' ? input.name : name)}`);
export const anthropicTexts = (items: Item[]) =>
  anthropicBlocks(items)
    .filter(({ type, text }) => type === 'text' && text !== '')
    .map(({ text }) => text);

/** Of the last message of a transcript. */
export function endingOfStop(message: Item, done: string): IndependentReading['ending'] {
  const stop = message?.stop_reason ?? message?.stopReason;
  if (stop === done) return 'completed';
  return stop === 'error' || message?.model === '<synthetic>' ? 'failed' : undefined;
}

/** What was said piece by piece, in a message that never came whole. */
export const cutOff = (items: Item[]): string[] => {
  let open = '';
  for (const { type, event } of items) {
    if (type === 'assistant') open = '';
    if (type === 'stream_event') open += event.delta?.text ?? '';
  }
  return open === '' ? [] : [open];
};

/** A document, which may be a list, or the lines that are JSON objects. */
export function itemsOf(text: string): Item[] {
  try {
    return [JSON.parse(text)].flat();
  } catch {
    return text.split('\n').flatMap((line) => {
      try {
        const item = JSON.parse(line);
        return typeof item === 'object' && item !== null ? [item] : [];
      } catch {
        return [];
      }
    });
  }
}
