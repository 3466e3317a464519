/** The public surface of `@whetstone/events/inspect`. */
export type { Loss } from '../loss.ts';
export { InspectLogError } from './inspect-log-error.ts';
export {
  type InspectMetadata,
  type InspectSample,
  type ReadInspectLogOptions,
  readInspectLog,
} from './read-inspect-log.ts';
export { type InspectLogOptions, type InspectSampleSource, writeInspectLog } from './write-inspect-log.ts';
