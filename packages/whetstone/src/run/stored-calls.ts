import type { CheckResult, SentChange, TestCalls } from '../eval/protocol.ts';
import type { CaseLayout } from '../record/layout.ts';
import type { CaseRow } from '../record/row.ts';
import { counted } from '../report/format.ts';
import { storedChanges, storedContent } from './stored-content.ts';
import { textOf } from './stored-events.ts';
import type { CaseRooms } from './stored-rooms.ts';

/** The answers of the stored case to the code of an eval. */
export function storedCalls(
  assertions: NonNullable<CaseRow['assertions']>,
  files: Pick<CaseLayout, 'patch'>,
  {
    repo,
    room,
    areTestsTheSame,
    anew = false,
  }: {
    repo: string;
    room: Pick<CaseRooms, 'check'>;
    areTestsTheSame: boolean;
    /** Every check that can run does so, whatever is stored of it. */
    anew?: boolean;
  },
): {
  calls: Omit<TestCalls, 'judge' | 'judgeLane' | 'masked' | 'user'>;
  /** Checks that the eval asked for more or less often than the stored case: by name, what to say of them. */
  miscounted(): Map<string, string>;
} {
  const stored = Map.groupBy(assertions, ({ name }) => name);
  const asked = new Map<string, number>();
  let read: SentChange[] | undefined;
  const changes = (): SentChange[] => {
    read ??= storedChanges(textOf(files.patch));
    return read;
  };
  const calls: ReturnType<typeof storedCalls>['calls'] = {
    async send() {
      throw new Error('the agent does not run');
    },
    async changes() {
      return changes();
    },
    async content(path, side) {
      const change = changes().find((one) => one.path === path);
      return change && storedContent(repo, change, side);
    },
    async check(what, ahead = 0): Promise<CheckResult> {
      const name = 'script' in what ? `scriptPassed(${JSON.stringify(what.script)})` : 'testsPassed()';
      if ('script' in what || areTestsTheSame) {
        // A check before a change of the files and one after it have the same name.
        const number = asked.get(name) ?? 0;
        asked.set(name, number + 1);
        const known = stored.get(name)?.[number];
        const isToRun = anew && ahead === 0;
        if (known && known.status !== 'unavailable' && !isToRun)
          return { status: known.status, message: known.message };
      }
      if (ahead === 0) return room.check(what);
      const follow = ahead === 1 ? 'another turn follows' : `${ahead} more turns follow`;
      return {
        status: 'broken',
        message: `a stored case has the files only as they were at the end, and ${follow}; run the eval again`,
      };
    },
  };
  const miscounted = () =>
    new Map(
      [...asked].flatMap(([name, count]) => {
        const had = stored.get(name)?.length ?? 0;
        const message = `the stored case has ${counted(had, 'result')} of this check, and the eval now asks for ${count}; run the eval again`;
        return had === 0 || had === count ? [] : [[name, message]];
      }),
    );
  return { calls, miscounted };
}
