import type { TurnInput } from '../agent.ts';
import type { SeenPlace } from '../policy/real-path.ts';
import { textOf } from './input-items.ts';
import { workspaceFile } from './workspace-file.ts';

/** A part of a prompt as the bridge of an SDK takes it. */
export type SdkItem = { type: 'text'; text: string } | { type: 'image'; path: string };

/** The parts of a prompt. What an SDK has no part for is said in words; so is an image outside the workspace. */
export async function sdkItems(
  { text, items }: TurnInput,
  workdir: string,
  place?: SeenPlace,
): Promise<SdkItem[]> {
  if (!items) return [{ type: 'text', text }];
  return Promise.all(
    items.map(async (item): Promise<SdkItem> => {
      const isFile = item.type === 'image' && 'path' in item;
      const path = isFile ? await workspaceFile(item.path, workdir, place) : undefined;
      return path === undefined ? { type: 'text', text: textOf([item]) } : { type: 'image', path };
    }),
  );
}
