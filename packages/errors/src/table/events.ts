import { type ErrorEntry, usage } from './error-entry.ts';

/** Codes of `@whetstone/events`. */
export const eventErrors = {
  'atif-empty': usage(
    'The events hold no step, and ATIF has no trajectory without steps.',
    'Convert the events of a turn in which the agent did something.',
  ),
  'atif-invalid': usage(
    'A document is not a valid ATIF trajectory.',
    'Correct the document at the path that the message names.',
  ),
  'inspect-log-damaged': usage(
    'An Inspect log is cut off, unreadable or incomplete.',
    'Copy the log again, or write it again with Inspect.',
  ),
  'inspect-log-invalid': usage(
    'A file is not an Inspect log, or a part of it does not have the shape of one.',
    'Give an .eval archive or a .json log of Inspect.',
  ),
  'inspect-log-too-large': usage(
    'A log, an entry or a sample is larger than the limit, as in a zip bomb.',
    'Raise the limit if you trust the log.',
  ),
  'inspect-log-unsupported': usage(
    'An entry of an Inspect log is encrypted, or compressed with a method that cannot be read.',
    'Write the log with stored, deflate or zstd entries and without encryption.',
  ),
} as const satisfies Record<string, ErrorEntry>;
