import { isJsonObject, type JsonObject, type JsonValue } from '@whetstone/events';
import { createTwoFilesPatch } from 'diff';
import { stringify } from 'yaml';
import { type Capture, canonicalPrompt } from './capture.ts';

export type CaptureChanges = {
  /** Unified diffs of the prompt and of each tool with another definition. Empty when they are the same. */
  diffs: string[];
  toolsAdded: string[];
  toolsRemoved: string[];
  toolsReordered: boolean;
};

/** Compares two captures without what differs from run to run, by the rules of this version for both. */
export function compareCaptures(before: Capture, now: Capture): CaptureChanges {
  const [old, current] = [before, now].map((capture) =>
    canonicalPrompt(capture, capture.names, capture.family),
  );
  const [oldTools, tools] = [toolTexts(old?.tools), toolTexts(current?.tools)];
  const labels = [labelOf(before), labelOf(now)] as const;
  const kept = [...tools.keys()].filter((name) => oldTools.has(name));
  const keptBefore = [...oldTools.keys()].filter((name) => tools.has(name));
  return {
    diffs: [
      ...unifiedDiff('prompt', promptText(old?.systemPrompt), promptText(current?.systemPrompt), labels),
      ...kept.flatMap((name) =>
        unifiedDiff(`tool ${name}`, oldTools.get(name) ?? '', tools.get(name) ?? '', labels),
      ),
    ],
    toolsAdded: [...tools.keys()].filter((name) => !oldTools.has(name)),
    toolsRemoved: [...oldTools.keys()].filter((name) => !tools.has(name)),
    toolsReordered: kept.join('\n') !== keptBefore.join('\n'),
  };
}

export const isSame = ({ diffs, toolsAdded, toolsRemoved, toolsReordered }: CaptureChanges): boolean =>
  diffs.length + toolsAdded.length + toolsRemoved.length === 0 && !toolsReordered;

const labelOf = ({ kind, agentVersion, capturedAt }: Capture): string =>
  `${kind} ${agentVersion}, ${capturedAt}`;

function unifiedDiff(what: string, before: string, now: string, labels: readonly string[]): string[] {
  if (before === now) return [];
  const [oldLabel, newLabel] = labels;
  const patch = createTwoFilesPatch(`${what} (${oldLabel})`, `${what} (${newLabel})`, before, now);
  return [patch.replace(/^=+\n/, '')];
}

/** The blocks of the prompt, separated by a line that is clearly not part of the prompt. */
function promptText(blocks: JsonValue | undefined): string {
  const texts = Array.isArray(blocks) ? blocks.map(String) : [];
  return texts.map((text, index) => `──── block ${index + 1}\n${text}\n`).join('');
}

/** Definitions by name, as YAML, so that a description is several lines and not one long string. */
function toolTexts(tools: JsonValue | undefined): Map<string, string> {
  const texts = new Map<string, string>();
  for (const tool of Array.isArray(tools) ? tools.filter(isJsonObject).flatMap(definitions) : []) {
    const name = nameOf(tool);
    const count = [...texts.keys()].filter((other) => other === name || other.startsWith(`${name} #`)).length;
    texts.set(count === 0 ? name : `${name} #${count + 1}`, stringify(tool, { lineWidth: 0 }));
  }
  return texts;
}

/** Wires that hold several definitions in one entry. */
function definitions(tool: JsonObject): JsonObject[] {
  const { functionDeclarations: declarations, ...rest } = tool;
  if (!Array.isArray(declarations)) return [tool];
  return [...declarations.filter(isJsonObject), ...(Object.keys(rest).length > 0 ? [rest] : [])];
}

function nameOf(tool: JsonObject): string {
  const named = [tool, tool.function].filter(isJsonObject).map(({ name }) => name);
  const name = [...named, tool.type, Object.keys(tool)[0]].find((candidate) => typeof candidate === 'string');
  return String(name ?? 'unnamed');
}

export const toolNames = ({ tools }: Pick<Capture, 'tools'>): string[] =>
  tools.flatMap(definitions).map(nameOf);
