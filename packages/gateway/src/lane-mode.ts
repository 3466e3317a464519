import type { RecordOptions } from './cassette/record-source.ts';
import type { ReplayOptions } from './cassette/replay-source.ts';
import type { ForwardOptions } from './forward/forward-source.ts';
import type { Script } from './script/script.ts';

/**
 * Where a lane's replies come from. `script`: a scripted model; `seed` (default 0) seeds its chance. `forward`: the
 * provider. `record`: the provider, and every exchange goes into a cassette. `replay`: a cassette.
 */
export type LaneMode =
  | { kind: 'script'; script: Script; seed?: string | number }
  | ({ kind: 'forward' } & ForwardOptions)
  | ({ kind: 'record' } & RecordOptions)
  | ({ kind: 'replay' } & ReplayOptions);
