import type { Script } from './script/script.ts';

/** Where a lane's replies come from. `script`: a scripted model; `seed` (default 0) seeds its chance. */
export type LaneMode = { kind: 'script'; script: Script; seed?: string | number };
