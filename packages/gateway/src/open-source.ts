import type { LaneAddress } from './cassette/lane-names.ts';
import { type RecordOptions, recordSource } from './cassette/record-source.ts';
import { type ReplayOptions, replaySource } from './cassette/replay-source.ts';
import { type ForwardOptions, type ForwardPlace, forwardSource } from './forward/forward-source.ts';
import type { Script } from './script/script.ts';
import { scriptSource } from './script/script-source.ts';
import type { Source } from './source.ts';

/**
 * Where a lane's replies come from. `script`: a scripted model; `seed` (default 0) seeds its chance. `forward`: the
 * provider. `record`: the provider, and every exchange goes into a cassette. `replay`: a cassette.
 */
export type LaneMode =
  | { kind: 'script'; script: Script; seed?: string | number }
  | ({ kind: 'forward' } & ForwardOptions)
  | ({ kind: 'record' } & RecordOptions)
  | ({ kind: 'replay' } & ReplayOptions);

/** @throws GatewayError when a mode lacks something that it needs (a key, a cassette). */
export async function openSource(
  mode: LaneMode,
  place: { owner: string } & ForwardPlace & LaneAddress,
): Promise<Source> {
  switch (mode.kind) {
    case 'script':
      return scriptSource(mode.script, { seed: mode.seed ?? 0, owner: place.owner });
    case 'forward':
      return forwardSource(mode, place);
    case 'record':
      return recordSource(mode, place);
    case 'replay':
      return replaySource(mode, place);
  }
}
