import type { EnvironmentEvent } from '../environment/open-environments.ts';
import { oneLine } from '../report/sanitize.ts';
import type { RunEvent } from '../run/run-event.ts';
import type { Colors } from './terminal-features.ts';

export const isEnvironmentEvent = (event: RunEvent): event is EnvironmentEvent =>
  event.type.startsWith('environment.');

/** One line for a reader who waits. */
export function environmentLine(event: EnvironmentEvent, colors: Colors): string {
  switch (event.type) {
    case 'environment.preparing':
      return `Preparing the environment: ${oneLine(event.commands.join(' && '), 100)}`;
    case 'environment.waiting':
      return 'Waiting for another process, which prepares the same environment';
    case 'environment.ready': {
      const { key, bytes, seconds, restored_inputs: restored } = event.layer;
      const how = event.isNew ? `prepared in ${seconds.toFixed(1)} s` : 'from the cache';
      const size = `${Math.max(1, Math.round(bytes / 1e6))} MB`;
      const note =
        restored.length === 0 ? '' : `; prepare changed ${restored.join(', ')}, which was put back`;
      return `Environment ${key.slice(0, 12)}: ${how}, ${size}${note}`;
    }
    case 'environment.copied':
      return colors.yellow(
        `The environment was copied in ${event.seconds.toFixed(1)} s, and every case copies it again: layered mounts do not work here`,
      );
    case 'environment.changed':
      return colors.yellow(
        `warning: something outside of the cases changed the environment ${event.key.slice(0, 12)} while they ran, so their results may not count; it is removed`,
      );
  }
}
