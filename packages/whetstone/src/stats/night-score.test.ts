import { describe, expect, test } from 'vitest';
import { drawNormal, drawPassed } from './draw-counts.ts';
import { alarmAt, likeliestStart, openDetector } from './drift-detector.ts';
import { joined, nightScore, type TaskTrials } from './night-score.ts';
import { nightsToFind } from './nights-to-find.ts';
import { normalCdf, normalQuantile } from './normal.ts';
import { seededRandom } from './seeded-random.ts';

const trials = (counts: Record<string, [passed: number, trials: number]>): TaskTrials =>
  new Map(Object.entries(counts).map(([task, [passed, all]]) => [task, { passed, trials: all }]));

const scoreOf = (before: TaskTrials, tonight: TaskTrials): number =>
  nightScore(before, tonight, 0.5)?.score ?? Number.NaN;

describe('the score of a night', () => {
  test('is the place of its passes among all that the totals allow', () => {
    // Of four trials two passed; tonight’s one was equally likely to be any of them: 0 passes with ½, 1 pass with ½.
    const before = trials({ a: [2, 3] });
    expect(nightScore(before, trials({ a: [0, 1] }), 0.5)).toEqual({
      ...{ before: 3, tonight: 1 },
      score: expect.closeTo(normalQuantile(0.25), 9),
    });
    const after = trials({ a: [1, 3] });
    expect(scoreOf(after, trials({ a: [1, 1] }))).toBeCloseTo(normalQuantile(0.75), 9);
    // Two such tasks: 0, 1 and 2 passes with ¼, ½ and ¼.
    const two = trials({ a: [2, 3], b: [2, 3] });
    expect(scoreOf(two, trials({ a: [0, 1], b: [0, 1] }))).toBeCloseTo(normalQuantile(0.125), 9);
    // Three of six passed, two tonight: 0 passes with 3/15.
    expect(scoreOf(trials({ a: [3, 4] }), trials({ a: [0, 2] }))).toBeCloseTo(normalQuantile(0.1), 9);
  });

  test('leaves out tasks that only one side has, and says nothing where nothing varies', () => {
    expect(scoreOf(trials({ a: [2, 3] }), trials({ a: [0, 1], b: [0, 1] }))).toBeCloseTo(
      normalQuantile(0.25),
      9,
    );
    expect(nightScore(trials({ a: [3, 3] }), trials({ a: [1, 1] }), 0.5)).toBeNull();
    expect(nightScore(trials({ a: [3, 3] }), trials({ b: [1, 1] }), 0.5)).toBeNull();
    expect(nightScore(trials({}), trials({}), 0.5)).toBeNull();
  });

  test('is standard normal and independent of the night before, with few trials of unlike tasks', () => {
    const random = seededRandom('nights');
    const rates = [0.05, 0.4, 0.5, 0.6, 0.5, 0.7, 0.95];
    const night = (count: number) =>
      new Map(
        rates.map((rate, i) => [String(i), { passed: drawPassed(rate, count, random), trials: count }]),
      );
    const pairs = Array.from({ length: 4000 }, () => {
      const [baseline, first, second] = [night(3), night(1), night(1)];
      return [
        nightScore(baseline, first, random()),
        nightScore(joined(baseline, first), second, random()),
      ].map((score) => normalCdf(score?.score ?? 0));
    });
    for (const place of [0, 1]) {
      for (const share of [0.05, 0.25, 0.5, 0.75, 0.95]) {
        const below = pairs.filter((pair) => (pair[place] ?? 0) < share).length / pairs.length;
        expect(Math.abs(below - share)).toBeLessThan(0.03);
      }
    }
    const covariance =
      pairs.reduce((total, [a = 0, b = 0]) => total + (a - 0.5) * (b - 0.5), 0) / pairs.length;
    expect(Math.abs(covariance * 12)).toBeLessThan(0.05);
  });
});

describe('the detector', () => {
  test('alarms less than once in 200 nights without a drift', () => {
    const random = seededRandom('no drift');
    let nights = 0;
    let alarms = 0;
    while (nights < 12_000) {
      const watch = openDetector();
      let evidence = 0;
      for (let before = 5; evidence < alarmAt(1) && nights < 12_000; before += 1) {
        evidence = watch({ score: drawNormal(random), before, tonight: 1 });
        nights += 1;
      }
      alarms += 1;
    }
    expect(nights / alarms).toBeGreaterThan(200);
    // Far more would be a detector that finds nothing in time.
    expect(nights / alarms).toBeLessThan(350);
  });

  test('finds lasting changes of either sign, the larger the sooner, and since when', () => {
    const random = seededRandom('drift');
    const delay = (shift: number) => {
      const found = Array.from({ length: 200 }, () => {
        const watch = openDetector();
        // So many earlier trials that a few drifted ones hardly change their rate.
        const many = { before: 1e6, tonight: 1 };
        for (let night = 1; ; night += 1)
          if (watch({ score: drawNormal(random) + shift, ...many }) >= alarmAt(1)) return night;
      });
      return found.reduce((total, one) => total + one, 0) / found.length;
    };
    expect(delay(-3)).toBeLessThan(4);
    expect(delay(1)).toBeLessThan(14);
    expect(delay(-1)).toBeGreaterThan(delay(-2));
    const scores = (values: (number | null)[]) =>
      values.map((score, i) => (score === null ? null : { score, before: 20 + i, tonight: 1 }));
    expect(likeliestStart(scores([0.3, -0.2, null, 0.1, -2, -1.5, -2.5]))).toMatchObject({ start: 4 });
    expect(likeliestStart(scores([0.1, 2, 2])).sum).toBeGreaterThan(3);
  });

  test('says how many nights a drop takes, and when there is no room for one', () => {
    const before = new Map(Array.from({ length: 20 }, (_, i) => [String(i), { passed: 4, trials: 5 }]));
    const asked = { trials: 1, alarm: alarmAt(1), replays: 60, seed: 'plan' };
    const [small, large] = [0.1, 0.3].map((drop) => nightsToFind(before, { ...asked, drop }));
    expect(large).toBeLessThan(small ?? Number.POSITIVE_INFINITY);
    expect(large).toBeLessThan(8);
    const rarely = new Map([['a', { passed: 0, trials: 5 }]]);
    expect(nightsToFind(rarely, { ...asked, drop: 0.2 })).toBeUndefined();
    expect(nightsToFind(new Map(), { ...asked, drop: 0.2 })).toBeUndefined();
  });
});
