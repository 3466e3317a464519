import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { openConcurrencyLimit, type RateOptions } from './concurrency-limit.ts';

/** A limit for numbered calls, with a clock that the test sets. */
function openWithClock(options: RateOptions = {}) {
  let clock = 0;
  let next = 0;
  const limit = openConcurrencyLimit<number>(options, () => clock);
  return {
    limit,
    now: () => clock,
    pass(ms: number) {
      clock += ms;
    },
    arrive(count = 1) {
      for (let arrived = 0; arrived < count; arrived++) limit.arrive(next++);
    },
    /** Admits calls, refuses them, and ends them. */
    refuseAll(pauseMs?: number) {
      const admitted = limit.admit();
      for (const call of admitted) limit.refused(call, pauseMs);
      for (const call of admitted) limit.leave(call, false);
      return admitted.length;
    },
  };
}

describe('a concurrency limit', () => {
  test('admits calls in the order of arrival, up to the limit', () => {
    const { limit, arrive } = openWithClock({ most: 2 });
    arrive(4);
    expect([limit.admit(), limit.admit()]).toEqual([[0, 1], []]);
    limit.abandon(2);
    limit.leave(0, false);
    expect(limit.admit()).toEqual([3]);
  });

  test('holds none of 300 calls back before the provider refuses one', () => {
    const { limit, arrive } = openWithClock();
    arrive(300);
    expect(limit.admit()).toHaveLength(300);
  });

  test('halves once when several calls are refused together, and pauses', () => {
    const { limit, arrive, pass, refuseAll } = openWithClock({ most: 8 });
    arrive(16);
    expect(refuseAll(50)).toBe(8);
    expect(limit.limit()).toBe(4);
    expect([limit.admit(), limit.resumesAt()]).toEqual([[], 50]);
    pass(50);
    expect(limit.admit()).toHaveLength(4);
  });

  test('halves the number of calls under way when that is below the limit', () => {
    const { limit, arrive, refuseAll } = openWithClock({ most: 64 });
    arrive(6);
    refuseAll(0);
    expect(limit.limit()).toBe(3);
  });

  test('grows by one after two rounds of good answers once a call was refused', () => {
    const { limit, arrive, refuseAll } = openWithClock({ most: 6 });
    arrive(30);
    refuseAll(0);
    const underWay = limit.admit();
    const limits: number[] = [];
    for (let done = 0; done < 6 + 8; done++) {
      limit.leave(underWay.shift() ?? -1, true);
      underWay.push(...limit.admit());
      limits.push(limit.limit());
    }
    expect(limits).toEqual([3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 4, 5]);
  });

  test('still says when a pause ends that has ended since the last look, because calls wait for it', () => {
    const { limit, arrive, pass, refuseAll } = openWithClock({ most: 2 });
    arrive(3);
    refuseAll(50);
    pass(49);
    expect(limit.admit()).toEqual([]);
    pass(1);
    expect(limit.resumesAt()).toBe(50);
    expect(limit.admit()).toEqual([2]);
    expect(limit.resumesAt()).toBeUndefined();
  });

  test('pauses for 1 s, then 2 s, and so on until a call succeeds, when the provider does not say how long', () => {
    const { limit, arrive, now, pass, refuseAll } = openWithClock({ maxPauseMs: 3000 });
    const pauses: number[] = [];
    for (let round = 0; round < 4; round++) {
      if (round === 3) {
        arrive();
        for (const call of limit.admit()) limit.leave(call, true);
      }
      arrive();
      refuseAll();
      arrive();
      pauses.push((limit.resumesAt() ?? 0) - now());
      pass(10_000);
      for (const call of limit.admit()) limit.leave(call, false);
    }
    expect(pauses).toEqual([1000, 2000, 3000, 1000]);
  });
});

/** Something that happens to a limit; `which` picks one of the calls that it can happen to. */
const happening = fc.oneof(
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('arrive' as const) }) },
  fc.record({ kind: fc.constant('abandon' as const), which: fc.nat() }),
  { weight: 3, arbitrary: fc.record({ kind: fc.constant('succeed' as const), which: fc.nat() }) },
  fc.record({ kind: fc.constant('fail' as const), which: fc.nat() }),
  fc.record({
    kind: fc.constant('refuse' as const),
    which: fc.nat(),
    pauseMs: fc.option(fc.integer({ min: -5, max: 200_000 }), { nil: undefined }),
  }),
  fc.record({ kind: fc.constant('pass' as const), ms: fc.nat(5000) }),
);

test('calls stay within the limit and in order, none goes in a pause, and none is forgotten', () => {
  const maxPauseMs = 10_000;
  fc.assert(
    fc.property(
      fc.array(happening, { maxLength: 300 }),
      fc.integer({ min: 1, max: 9 }),
      (happenings, most) => {
        const { limit, now, pass } = openWithClock({ most, maxPauseMs });
        const waiting: number[] = [];
        let underWay: number[] = [];
        let arrived = 0;
        let pausedUntil = 0;
        let longestPauseUntil = 0;
        const pick = (calls: number[], which: number): number | undefined => calls[which % calls.length];
        const end = (call: number, ok: boolean): void => {
          underWay = underWay.filter((other) => other !== call);
          limit.leave(call, ok);
        };
        const admit = (): void => {
          const admitted = limit.admit();
          expect(admitted).toEqual(waiting.splice(0, admitted.length));
          underWay.push(...admitted);
          if (admitted.length > 0) expect(now()).toBeGreaterThanOrEqual(pausedUntil);
          if (admitted.length > 0) expect(underWay.length).toBeLessThanOrEqual(limit.limit());
          // A call that still waits has a reason.
          const isPaused = limit.resumesAt() !== undefined && now() < longestPauseUntil;
          if (waiting.length > 0) expect(isPaused || underWay.length >= limit.limit()).toBe(true);
        };

        for (const each of happenings) {
          switch (each.kind) {
            case 'arrive':
              waiting.push(arrived);
              limit.arrive(arrived++);
              break;
            case 'abandon': {
              const call = pick(waiting, each.which);
              if (call === undefined) break;
              waiting.splice(waiting.indexOf(call), 1);
              limit.abandon(call);
              break;
            }
            case 'succeed':
            case 'fail': {
              const call = pick(underWay, each.which);
              if (call !== undefined) end(call, each.kind === 'succeed');
              break;
            }
            case 'refuse': {
              const call = pick(underWay, each.which);
              if (call === undefined) break;
              const before = limit.limit();
              limit.refused(call, each.pauseMs);
              expect(limit.limit()).toBeLessThanOrEqual(before);
              // A pause that the limit chooses itself is at least a second.
              pausedUntil = Math.max(pausedUntil, now() + Math.min(maxPauseMs, each.pauseMs ?? 1000));
              longestPauseUntil = now() + maxPauseMs;
              end(call, false);
              break;
            }
            case 'pass':
              pass(each.ms);
              break;
          }
          expect(limit.limit()).toBeGreaterThanOrEqual(1);
          expect(limit.limit()).toBeLessThanOrEqual(most);
          expect((limit.resumesAt() ?? now()) - now()).toBeLessThanOrEqual(maxPauseMs);
          admit();
        }

        // When calls end and time passes, every call gets its turn.
        for (let round = 0; waiting.length > 0 && round <= arrived; round++) {
          for (const call of underWay) end(call, true);
          pass(maxPauseMs);
          admit();
        }
        expect(waiting).toEqual([]);
      },
    ),
  );
});
