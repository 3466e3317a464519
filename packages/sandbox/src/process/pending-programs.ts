/** What a launcher reports of a program: that it runs, then how it ended, or why it could not be started. */
export type Report =
  | { pid: number }
  | { exitCode: number }
  | { error: { code: string | undefined; message: string } };

export type Started = {
  pid: number;
  /** Never rejects. */
  exited: Promise<number>;
};

/** The programs that a launcher was asked to start and that have not ended. `onIdle` is called when there is none left. */
export function pendingPrograms(onIdle: () => void) {
  type Pending = { start: PromiseWithResolvers<number>; exit: PromiseWithResolvers<number> };
  const pending = new Map<number, Pending>();
  let lastId = 0;
  let endOf: ((entry: Pending) => void) | undefined;

  function settle(id: number, report: Report): void {
    const entry = pending.get(id);
    if (entry === undefined) return;
    if ('pid' in report) {
      entry.start.resolve(report.pid);
      return;
    }
    if ('error' in report) entry.start.reject(Object.assign(new Error(report.error.message), report.error));
    else entry.exit.resolve(report.exitCode);
    pending.delete(id);
    if (pending.size === 0) onIdle();
  }

  return {
    settle,

    /** `ask` sends the request. */
    begin(ask: (id: number) => void): { started: Promise<Started>; exited: Promise<number> } {
      lastId += 1;
      const entry: Pending = { start: Promise.withResolvers(), exit: Promise.withResolvers() };
      if (endOf) endOf(entry);
      else {
        pending.set(lastId, entry);
        ask(lastId);
      }
      const exited = entry.exit.promise;
      return { started: entry.start.promise.then((pid) => ({ pid, exited })), exited };
    },

    /** The launcher has ended, and nobody answers any more. */
    fail(reason: Error, exitCode: number): void {
      endOf = ({ start, exit }) => {
        start.reject(reason);
        exit.resolve(exitCode);
      };
      for (const entry of pending.values()) endOf(entry);
      pending.clear();
    },
  };
}
