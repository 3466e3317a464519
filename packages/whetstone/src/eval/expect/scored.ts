import { requireArgument, requireScore } from './arguments.ts';
import { guarded, type Match, type Matcher, matchIf, unavailable } from './matcher.ts';
import { show } from './show.ts';
import { whenKnown } from './when-known.ts';

/** What a scorer of the package `autoevals` gives. The package does not have to be installed. */
export type ScorerResult = {
  name?: string;
  /** 0 to 1. `null`: the scorer skipped the value. */
  score: number | null;
  metadata?: Record<string, unknown>;
};

/**
 * A scorer of `autoevals` as a matcher: `scored(Levenshtein, { expected: 'Paris' })`. The value is its `output`, `rest`
 * its other arguments. Matches at `atLeast`, default 0.5; the handle of an assertion can set another threshold.
 */
export function scored<Arguments extends { output: unknown }>(
  scorer: (arguments_: Arguments) => ScorerResult | Promise<ScorerResult>,
  { atLeast = 0.5, ...rest }: Omit<Arguments, 'output'> & { atLeast?: number },
): Matcher<Arguments['output']> {
  requireArgument(typeof scorer === 'function', 'scored()', 'a scorer, which is a function', scorer);
  requireScore('scored(): atLeast', atLeast);
  return {
    label: `scored(${show(scorer.name)})`,
    match: (output) =>
      guarded(() =>
        whenKnown(scorer({ ...rest, output } as unknown as Arguments), (result) => read(result, atLeast)),
      ),
  };
}

function read({ name = 'the scorer', score, metadata }: ScorerResult, atLeast: number): Match {
  if (score === null || !(score >= 0 && score <= 1)) {
    return unavailable(`${name} gave the score ${show(score)}`);
  }
  const why = metadata?.rationale;
  const reason = `${name} gave ${score.toFixed(2)}, and ${atLeast} is needed`;
  return {
    ...matchIf(score >= atLeast, typeof why === 'string' ? `${reason}: ${show(why)}` : reason),
    score,
  };
}
