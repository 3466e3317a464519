/**
 * `@whetstone/events/reading`: what is read from events that are known to be valid. It loads no schema, which a process
 * that starts often would notice.
 */
export { deriveAgentMetadata } from './agent-metadata.ts';
export { EVENT_TYPES, eventFields } from './event-fields.ts';
export { replyText } from './reply-text.ts';
export { shellCommand, shellName } from './shell-command.ts';
