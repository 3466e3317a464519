/** The standard streams of a command, which are those of the process. */
export type Streams = Pick<NodeJS.Process, 'stdin' | 'stdout' | 'stderr'>;
