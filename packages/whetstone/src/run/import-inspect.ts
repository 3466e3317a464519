import { WhetstoneError } from '@whetstone/errors';
import type { JsonObject } from '@whetstone/events';
import { type InspectSample, readInspectLog } from '@whetstone/events/inspect';
import { hashJson } from '../plan/hash-json.ts';
import type { ImportedCase } from './imported-case.ts';

/**
 * Reads the samples of an Inspect log. `scorer`: whose score decides; default: the only one.
 * @throws WhetstoneError `import-invalid` where several scorers could decide, and InspectLogError.
 */
export async function importInspect(file: string, scorer: string | undefined): Promise<ImportedCase[]> {
  const cases: ImportedCase[] = [];
  for await (const sample of readInspectLog(file)) cases.push(caseOf(sample, file, scorer));
  return cases;
}

function caseOf(sample: InspectSample, file: string, scorer: string | undefined): ImportedCase {
  const { metadata, events } = sample;
  const model = metadata.model ?? 'unknown';
  const first = events.find((event) => event.type === 'message' && event.role === 'user');
  const prompt = first?.type === 'message' ? first.text : null;
  return {
    task: metadata.task === undefined ? String(sample.id) : `${metadata.task}/${sample.id}`,
    fingerprint: hashJson({ tool: 'inspect', task: metadata.task ?? null, id: sample.id, prompt }),
    agent: { name: model, kind: 'inspect', version: null },
    trial: sample.epoch,
    ...verdictOf(sample, file, scorer),
    startedAt: events.find((event) => event.at !== undefined)?.at ?? null,
    ...{ seconds: null, agentSeconds: null, events },
    usage: sample.usage ?? null,
    costUsd: sample.costUsd ?? null,
    models: metadata.model === undefined ? [] : [metadata.model],
  };
}

type Verdict = Pick<ImportedCase, 'outcome' | 'evidence' | 'score'>;

function verdictOf(
  { metadata, scores, id }: InspectSample,
  file: string,
  scorer: string | undefined,
): Verdict {
  const missing = (evidence: string): Verdict => ({ outcome: 'error', evidence, score: null });
  if (metadata.error !== undefined) return missing(metadata.error);
  const all = isObject(scores) ? scores : {};
  const names = Object.keys(all);
  if (scorer === undefined && names.length > 1) {
    throw new WhetstoneError('import-invalid', `Sample ${id} has several scores: ${names.join(', ')}.`, {
      where: file,
      hint: `Say which one decides: --score ${names[0]}`,
    });
  }
  const name = scorer ?? names[0];
  const score = name === undefined ? undefined : all[name];
  if (name === undefined || score === undefined) {
    return missing(scorer === undefined ? 'the log has no score' : `the log has no score ${scorer}`);
  }
  const value = isObject(score) ? score.value : score;
  const size = sizeOf(value);
  if (size === null)
    return missing(`the score ${name} is ${JSON.stringify(value)}, which is neither a pass nor a share`);
  const explained = isObject(score) && typeof score.explanation === 'string' ? `: ${score.explanation}` : '';
  return size >= 1
    ? { outcome: 'passed', evidence: null, score: size }
    : {
        outcome: 'failed',
        evidence: `the score ${name} is ${JSON.stringify(value)}${explained}`,
        score: size,
      };
}

/** Inspect's own values: C (correct), P (partial), I (incorrect), N (no answer). */
const LETTERS: Readonly<Record<string, number>> = { C: 1, P: 0.5, I: 0, N: 0 };

function sizeOf(value: unknown): number | null {
  if (typeof value === 'boolean') return Number(value);
  if (typeof value === 'string') return LETTERS[value] ?? null;
  return typeof value === 'number' && value >= 0 && value <= 1 ? value : null;
}

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
