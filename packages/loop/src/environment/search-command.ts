const searches = new WeakSet<readonly string[]>();

/** Notes that a command only reads files, so that a read-only environment may run it. Returns the command. */
export function searchCommand(command: readonly string[]): readonly string[] {
  searches.add(command);
  return command;
}

/** Whether the loop itself has built exactly this list as a search: an equal list of somebody else is not one. */
export function isSearchCommand(command: string | readonly string[]): boolean {
  return typeof command !== 'string' && searches.has(command);
}
