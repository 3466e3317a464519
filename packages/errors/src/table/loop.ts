import { type ErrorEntry, harness, model, usage } from './error-entry.ts';

/** Codes of `@whetstone/loop`: those of a model call begin with `model-`. */
export const loopErrors = {
  'event-queue-full': usage(
    'A consumer of `events()` left more events unread than its queue holds.',
    'Read the iterator faster, end it with return(), or use on().',
  ),
  'hook-failed': usage(
    'A hook of the host program threw an error; what it guards is refused.',
    'Correct the hook.',
  ),
  'input-blocked': usage(
    'A hook of the host program refused the input.',
    'Change the input, or the hook that refuses it.',
  ),
  'model-access-denied': model(
    'The provider knows the key and refuses the model or feature (HTTP 403).',
    'Use a key that has access, or choose another model.',
  ),
  'model-authentication-failed': model(
    'The provider refused the key (HTTP 401).',
    'Check the API key of the model.',
  ),
  'model-call-aborted': harness(
    'The host program aborted the model call.',
    'Submit the input again to repeat the call.',
  ),
  'model-configuration-invalid': usage(
    'The host program did not say which provider or price a model call has.',
    'Pass what the message names to the client or the session.',
  ),
  'model-context-overflow': model(
    'The conversation is longer than the context window of the model.',
    'Begin a new session, shorten the history, or choose a model with a larger window.',
  ),
  'model-failed': model(
    'A model call failed for a reason that Whetstone does not know.',
    'Read the message of the provider.',
  ),
  'model-key-missing': usage(
    'The model has no API key.',
    'Pass an API key to the model, or set the variable that its provider reads.',
  ),
  'model-network-failed': model(
    'The provider could not be reached, or the connection broke.',
    'Check the base URL, the network and the proxy.',
  ),
  'model-not-found': model(
    'The provider does not know the model or the address (HTTP 404).',
    'Check the model name and the base URL.',
  ),
  'model-quota-exceeded': model(
    'The account of the key has no credit left.',
    'Add credit to the account, or use another key.',
  ),
  'model-rate-limit': model(
    'The provider limits how many calls or tokens it serves in a time (HTTP 429).',
    'Wait, run fewer cases at the same time, or ask the provider for a higher limit.',
  ),
  'model-request-invalid': model(
    'The provider refused the request as it is (HTTP 400 and its like).',
    'Read the message of the provider, and check the model settings.',
  ),
  'model-response-empty': model(
    'The model answered with nothing.',
    'Try again; if it happens often, choose another model.',
  ),
  'model-server-error': model('The provider failed or is overloaded (HTTP 5xx).', 'Try again later.'),
  'model-stream-broken': model(
    'The response of the model broke off before its end.',
    'Try again; check the proxy if it happens often.',
  ),
  'model-timeout': model(
    'The model sent nothing for longer than the time limit.',
    'Try again later, or raise the time limit.',
  ),
  'output-invalid': model(
    'The last answer of the model does not fit the output schema.',
    'Simplify the schema, say in the prompt what is wanted, or choose another model.',
  ),
  'patch-invalid': model(
    'The text that the model gave to apply_patch is not a patch.',
    'Nothing: the model reads the message and writes the patch again.',
  ),
  'patch-mismatch': model(
    'A patch of the model does not fit the file that it changes.',
    'Nothing: the model reads the message, reads the file again and writes another patch.',
  ),
  'response-refused': model(
    'The model or the content filter of its provider refused to answer.',
    'Change the input, or choose another model.',
  ),
  'search-pattern-invalid': model(
    'A search pattern of the model does not compile, or takes too long to match.',
    'Nothing: the model reads the message and writes another pattern.',
  ),
  'search-program-missing': usage(
    'The search program that comes with the loop is not installed.',
    'Install with optional dependencies (no `--omit=optional`), on a platform for which `@vscode/ripgrep` has a program.',
  ),
  'session-failed': harness(
    'The loop failed unexpectedly.',
    'Report the error with the message and the version.',
  ),
  'session-option-invalid': usage(
    'An option of a session, its hooks, a profile or a local environment is misspelt, or has a value of another type.',
    'Correct the option that the message names.',
  ),
  'session-persist-failed': usage(
    'The `persist` function of the host program threw an error; the snapshot is not stored.',
    'Correct `persist`.',
  ),
  'session-state-wrong': usage(
    'The session cannot do this now: it is working, closed, or has nothing to resume.',
    'Wait for the running submit(), use steer() or followUp(), or make another session.',
  ),
} as const satisfies Record<string, ErrorEntry>;
