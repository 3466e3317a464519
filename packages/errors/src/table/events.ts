import type { ErrorEntry } from './error-entry.ts';

/** Codes of `@whetstone/events`. */
export const eventErrors = {
  'atif-empty': {
    class: 'usage',
    meaning: 'The events hold no step, and ATIF has no trajectory without steps.',
    fix: 'Convert the events of a turn in which the agent did something.',
  },
  'atif-invalid': {
    class: 'usage',
    meaning: 'A document is not a valid ATIF trajectory.',
    fix: 'Correct the document at the path that the message names.',
  },
  'inspect-log-damaged': {
    class: 'usage',
    meaning: 'An Inspect log is cut off, unreadable or incomplete.',
    fix: 'Copy the log again, or write it again with Inspect.',
  },
  'inspect-log-invalid': {
    class: 'usage',
    meaning: 'A file is not an Inspect log, or a part of it does not have the shape of one.',
    fix: 'Give an .eval archive or a .json log of Inspect.',
  },
  'inspect-log-too-large': {
    class: 'usage',
    meaning: 'A log, an entry or a sample is larger than the limit, as in a zip bomb.',
    fix: 'Raise the limit if you trust the log.',
  },
  'inspect-log-unsupported': {
    class: 'usage',
    meaning: 'An entry of an Inspect log is encrypted, or compressed with a method that cannot be read.',
    fix: 'Write the log with stored, deflate or zstd entries and without encryption.',
  },
} as const satisfies Record<string, ErrorEntry>;
