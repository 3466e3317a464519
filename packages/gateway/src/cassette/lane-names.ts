import type { ModelCall } from '../source.ts';
import { joinText } from '../wire/json-reading.ts';
import { workingDirectory } from '../working-directory.ts';

/** Texts that are different in each session, such as directories, and what stands for each in a cassette. */
export type LaneNames = Readonly<Record<string, string>>;

export type LaneAddress = { laneKey: string; laneUrl: string };

export const laneNames = ({ laneKey, laneUrl }: LaneAddress, names: LaneNames = {}): LaneNames => ({
  ...names,
  [laneUrl]: '<lane>',
  [laneKey]: '<lane-key>',
});

/** The names for a call: those of its lane, and the working directory that the agent reports to its model. */
export function callNames({ neutral }: ModelCall, names: LaneNames): LaneNames {
  const texts = neutral.messages.flatMap((message) => (message.role === 'user' ? [message.text] : []));
  const directory = workingDirectory(joinText(neutral.instructions, ...texts));
  if (directory === undefined) return names;
  return { [directory]: '<workspace>', [dashed(directory)]: '<workspace-dashed>', ...names };
}

/** How Claude Code and Qwen Code write a path when they name a folder after it. */
const dashed = (path: string): string => path.replaceAll(/[^A-Za-z0-9]/g, '-');

export function toNames(names: LaneNames): (text: string) => string {
  // The longest first, because a workspace may be in a home directory.
  const inOrder = Object.entries(names)
    .filter(([value]) => value.length > 1)
    .sort(([left], [right]) => right.length - left.length);
  return (text) => inOrder.reduce((masked, [value, name]) => replaceWhole(masked, value, name), text);
}

export function fromNames(names: LaneNames): (text: string) => string {
  const entries = Object.entries(names);
  return (text) =>
    text.includes('<')
      ? entries.reduce((named, [value, name]) => named.replaceAll(name, () => value), text)
      : text;
}

/** Replaces `value` unless the name continues after it: `/work` does not contain the path `/w`. */
const replaceWhole = (text: string, value: string, name: string): string =>
  text.replaceAll(value, (_, at: number) => (/[\w-]/.test(text.charAt(at + value.length)) ? value : name));
