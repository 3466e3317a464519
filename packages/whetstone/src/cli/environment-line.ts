import pico from 'picocolors';
import type { EnvironmentEvent } from '../environment/open-environments.ts';
import type { EnvironmentPreview } from '../environment/preview-environments.ts';
import { counted } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import type { RunEvent } from '../run/run-event.ts';
import type { Colors } from './terminal-features.ts';

export const isEnvironmentEvent = (event: RunEvent): event is EnvironmentEvent =>
  event.type.startsWith('environment.');

/** One line for a reader who waits. */
export function environmentLine(event: EnvironmentEvent, colors: Colors = pico.createColors(false)): string {
  switch (event.type) {
    case 'environment.preparing':
      return `Preparing the environment${wholeTreeNote(event.wholeTree)}: ${oneLine(event.commands.join(' && '), 100)}`;
    case 'environment.waiting':
      return 'Waiting for another process, which prepares the same environment';
    case 'environment.ready': {
      const { key, bytes, seconds, restored_inputs: restored, whole_tree: wholeTree } = event.layer;
      const how = event.isNew ? `prepared in ${seconds.toFixed(1)} s` : 'from the cache';
      const size = `${Math.max(1, Math.round(bytes / 1e6))} MB`;
      const note =
        restored.length === 0
          ? ''
          : `; prepare changed ${oneLine(restored.join(', '), 200)}, which was put back`;
      return `Environment ${key.slice(0, 12)}${wholeTreeNote(wholeTree)}: ${how}, ${size}${note}`;
    }
    case 'environment.copied':
      return colors.yellow(
        `The environment was copied in ${event.seconds.toFixed(1)} s, and every case copies it again: layered mounts cannot be used here`,
      );
    case 'environment.changed':
      return colors.yellow(
        `warning: something outside of the cases changed the environment ${event.key.slice(0, 12)} while they ran, so their results may not count; it is removed`,
      );
  }
}

/** Then every tree has an environment of its own, which the user may not expect. */
const wholeTreeNote = (reason: string | null | undefined): string =>
  reason === null || reason === undefined ? '' : ` of the whole tree (${oneLine(reason, 120)})`;

/** What a run would prepare, and what of that is there. */
export function previewLine(preview: EnvironmentPreview): string {
  const { commands, stored, storedBytes, missing, unknown, withoutInputs, wholeTree } = preview;
  const size = `${Math.max(1, Math.round(storedBytes / 1e6))} MB`;
  const parts = [
    ...(missing > 0 ? [`${counted(missing, 'environment')} to make`] : []),
    ...(stored > 0
      ? [`${stored} from the cache (${size}) unless the path or the version of a tool has changed`]
      : []),
    ...(unknown > 0 ? [`${unknown} not known before the run, because an overlay writes an input`] : []),
    ...(wholeTree === null ? [] : [`one for each state${wholeTreeNote(wholeTree)}`]),
    ...(withoutInputs > 0
      ? [`none for ${counted(withoutInputs, 'commit')} without a file of \`environment.inputs\``]
      : []),
  ];
  return `${oneLine(commands.join(' && '), 100)}: ${parts.join('; ')}`;
}

/** The same for programs. `null`: nothing is prepared. */
export const previewJson = (preview: EnvironmentPreview | undefined) =>
  preview
    ? {
        commands: preview.commands,
        stored: preview.stored,
        stored_bytes: preview.storedBytes,
        missing: preview.missing,
        unknown: preview.unknown,
        without_inputs: preview.withoutInputs,
        whole_tree: preview.wholeTree,
      }
    : null;
