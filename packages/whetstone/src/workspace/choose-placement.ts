import { WhetstoneError } from '@whetstone/errors';
import { copyPlacement, reflinkWorks } from './copy-placement.ts';
import { isPrivateMountNamespace } from './mount-namespace.ts';
import { mountPlacement } from './mount-placement.ts';
import type { Placement } from './placement.ts';
import type { WorkspaceStrategy } from './workspace.ts';

/**
 * `auto` takes the best strategy that works: layered mounts, if they vanish with this process (a private mount
 * namespace), else copy-on-write clones, else copies. A strategy that is named is used, or it is an error.
 */
export async function choosePlacement(
  scratch: string,
  wanted: 'auto' | WorkspaceStrategy,
): Promise<Placement> {
  if (wanted === 'mount' || (wanted === 'auto' && isPrivateMountNamespace())) {
    const mounts = await mountPlacement(scratch);
    if (mounts) return mounts;
  }
  if (wanted === 'reflink' || wanted === 'auto') {
    if (await reflinkWorks(scratch)) return copyPlacement('reflink');
  }
  if (wanted === 'copy' || wanted === 'auto') return copyPlacement('copy');
  const message = `The workspace strategy ${wanted} does not work here.`;
  const hint = HINTS[wanted];
  throw new WhetstoneError('workspace-strategy-unavailable', message, { where: scratch, hint });
}

const HINTS = {
  mount:
    'Layered mounts need Linux, root or user namespaces, and a scratch folder that is not itself on overlayfs.',
  reflink:
    'Copy-on-write clones need btrfs, xfs or another file system that has them under the scratch folder.',
};
