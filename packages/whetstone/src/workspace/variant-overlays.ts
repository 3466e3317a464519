import type { OverlayOperation, VariantConfig } from '../config/config.ts';

/**
 * What a variant does to the tree of one agent: its overlays, then its instructions as `target`, the file that this
 * agent reads. They replace a file that the repository or an overlay has there.
 */
export function variantOverlays(
  { overlays, instructions }: VariantConfig,
  target: string,
): OverlayOperation[] {
  if (!instructions) return overlays;
  const placed: OverlayOperation =
    'file' in instructions
      ? { kind: 'copy', source: instructions.file, target }
      : { kind: 'write', text: instructions.text, target };
  return [...overlays, placed];
}
