import type { OverlayOperation, VariantConfig } from '../config/config.ts';

/** A variant's overlays for one agent, and last its instructions as `target`, the file that this agent reads. */
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
