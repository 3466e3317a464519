import type { AgentConfig } from '@whetstone/agents/config';
import { contextPlacesOf } from '@whetstone/agents/config';
import type { OverlayOperation, VariantConfig } from '../config/config.ts';

/**
 * What a variant does to the tree of one agent: its overlays, then its instructions as the file that this agent reads,
 * in the place of one that the repository or an overlay has there.
 */
export function variantOverlays(
  { overlays, instructions }: VariantConfig,
  agent: Pick<AgentConfig, 'kind' | 'cli'>,
): OverlayOperation[] {
  if (!instructions) return overlays;
  const { instructions: target } = contextPlacesOf(agent);
  const placed: OverlayOperation =
    'file' in instructions
      ? { kind: 'copy', source: instructions.file, target }
      : { kind: 'write', text: instructions.text, target };
  return [...overlays, placed];
}
