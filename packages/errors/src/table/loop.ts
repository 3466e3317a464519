import type { ErrorEntry } from './error-entry.ts';

/** Codes of `@whetstone/loop`: those of a model call begin with `model-`. */
export const loopErrors = {
  'event-queue-full': {
    class: 'usage',
    meaning: 'A consumer of `events()` left more events unread than its queue holds.',
    fix: 'Read the iterator faster, end it with return(), or use on().',
  },
  'hook-failed': {
    class: 'usage',
    meaning: 'A hook of the host program threw an error; what it guards is refused.',
    fix: 'Correct the hook.',
  },
  'input-blocked': {
    class: 'usage',
    meaning: 'A hook of the host program refused the input.',
    fix: 'Change the input, or the hook that refuses it.',
  },
  'model-access-denied': {
    class: 'model',
    meaning: 'The provider knows the key and refuses the model or feature (HTTP 403).',
    fix: 'Use a key that has access, or choose another model.',
  },
  'model-authentication-failed': {
    class: 'model',
    meaning: 'The provider refused the key (HTTP 401).',
    fix: 'Check the API key of the model.',
  },
  'model-call-aborted': {
    class: 'harness',
    meaning: 'The host program aborted the model call.',
    fix: 'Submit the input again to repeat the call.',
  },
  'model-configuration-invalid': {
    class: 'usage',
    meaning: 'The host program did not say which provider or price a model call has.',
    fix: 'Pass what the message names to the client or the session.',
  },
  'model-context-overflow': {
    class: 'model',
    meaning: 'The conversation is longer than the context window of the model.',
    fix: 'Begin a new session, shorten the history, or choose a model with a larger window.',
  },
  'model-failed': {
    class: 'model',
    meaning: 'A model call failed for a reason that Whetstone does not know.',
    fix: 'Read the message of the provider.',
  },
  'model-key-missing': {
    class: 'usage',
    meaning: 'The model has no API key.',
    fix: 'Pass an API key to the model, or set the variable that its provider reads.',
  },
  'model-network-failed': {
    class: 'model',
    meaning: 'The provider could not be reached, or the connection broke.',
    fix: 'Check the base URL, the network and the proxy.',
  },
  'model-not-found': {
    class: 'model',
    meaning: 'The provider does not know the model or the address (HTTP 404).',
    fix: 'Check the model name and the base URL.',
  },
  'model-quota-exceeded': {
    class: 'model',
    meaning: 'The account of the key has no credit left.',
    fix: 'Add credit to the account, or use another key.',
  },
  'model-rate-limit': {
    class: 'model',
    meaning: 'The provider limits how many calls or tokens it serves in a time (HTTP 429).',
    fix: 'Wait, run fewer cases at the same time, or ask the provider for a higher limit.',
  },
  'model-request-invalid': {
    class: 'model',
    meaning: 'The provider refused the request as it is (HTTP 400 and its like).',
    fix: 'Read the message of the provider, and check the model settings.',
  },
  'model-response-empty': {
    class: 'model',
    meaning: 'The model answered with nothing.',
    fix: 'Try again; if it happens often, choose another model.',
  },
  'model-server-error': {
    class: 'model',
    meaning: 'The provider failed or is overloaded (HTTP 5xx).',
    fix: 'Try again later.',
  },
  'model-stream-broken': {
    class: 'model',
    meaning: 'The response of the model broke off before its end.',
    fix: 'Try again; check the proxy if it happens often.',
  },
  'model-timeout': {
    class: 'model',
    meaning: 'The model sent nothing for longer than the time limit.',
    fix: 'Try again later, or raise the time limit.',
  },
  'output-invalid': {
    class: 'model',
    meaning: 'The last answer of the model does not fit the output schema.',
    fix: 'Simplify the schema, say in the prompt what is wanted, or choose another model.',
  },
  'patch-invalid': {
    class: 'model',
    meaning: 'The text that the model gave to apply_patch is not a patch.',
    fix: 'Nothing: the model reads the message and writes the patch again.',
  },
  'patch-mismatch': {
    class: 'model',
    meaning: 'A patch of the model does not fit the file that it changes.',
    fix: 'Nothing: the model reads the message, reads the file again and writes another patch.',
  },
  'response-refused': {
    class: 'model',
    meaning: 'The model or the content filter of its provider refused to answer.',
    fix: 'Change the input, or choose another model.',
  },
  'search-pattern-invalid': {
    class: 'model',
    meaning: 'A search pattern of the model does not compile, or takes too long to match.',
    fix: 'Nothing: the model reads the message and writes another pattern.',
  },
  'session-failed': {
    class: 'harness',
    meaning: 'The loop failed unexpectedly.',
    fix: 'Report the error with the message and the version.',
  },
  'session-persist-failed': {
    class: 'usage',
    meaning: 'The `persist` function of the host program threw an error; the snapshot is not stored.',
    fix: 'Correct `persist`.',
  },
  'session-state-wrong': {
    class: 'usage',
    meaning: 'The session cannot do this now: it is working, closed, or has nothing to resume.',
    fix: 'Wait for the running submit(), use steer() or followUp(), or make another session.',
  },
} as const satisfies Record<string, ErrorEntry>;
