import { isAbsolute, join, resolve } from 'node:path';
import type { InputItem } from '../../kit/input-items.ts';
import { textOf } from '../../kit/input-items.ts';
import type { DialogueTurn } from '../native-agent.ts';
import { facts } from './facts.ts';
import type { UserInput } from './protocol.ts';

export const textInput = (text: string): UserInput => ({ type: 'text', text, text_elements: [] });

/** The prompt as Codex takes it: its parts one by one, those that Codex does not know in words. */
export function userInputOf({ input, workingDirectory, connection }: DialogueTurn): UserInput[] {
  const items = input.items ?? [{ type: 'text', text: input.text } as const];
  const skillFile = (name: string) => join(connection.home, facts.skills ?? '', name, 'SKILL.md');
  return items.map((item) => partOf(item, workingDirectory, skillFile));
}

function partOf(item: InputItem, workdir: string, skillFile: (name: string) => string): UserInput {
  switch (item.type) {
    case 'text':
      return textInput(item.text);
    case 'image':
      return 'url' in item
        ? { type: 'image', url: item.url }
        : { type: 'localImage', path: isAbsolute(item.path) ? item.path : resolve(workdir, item.path) };
    case 'skill':
      return { type: 'skill', name: item.name, path: item.path ?? skillFile(item.name) };
    case 'mention':
      return item.path === undefined
        ? textInput(textOf([item]))
        : { type: 'mention', name: item.name, path: item.path };
    default:
      return textInput(textOf([item]));
  }
}
