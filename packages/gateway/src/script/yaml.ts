import { LineCounter, parseDocument } from 'yaml';
import { z } from 'zod';
import { agentFamilies } from '../agent-family.ts';
import { GatewayError } from '../gateway-error.ts';
import { wireProtocols } from '../wire/neutral.ts';
import { type Script, type ScriptRequest, type ScriptStep, scriptStepSchema } from './script.ts';

const oneOrMore = <T extends z.ZodType>(value: T) =>
  z.union([value, z.array(value).min(1)]).transform((given) => (Array.isArray(given) ? given : [given]));
const texts = oneOrMore(z.string().min(1)).optional();

const conditionSchema = z.strictObject({
  text_contains: texts,
  user_contains: texts,
  instructions_contain: texts,
  not_contains: texts,
  family: oneOrMore(z.enum(agentFamilies)).optional(),
  wire: oneOrMore(z.enum(wireProtocols)).optional(),
  chance: z
    .strictObject({ label: z.string().min(1).optional(), probability: z.number().min(0).max(1) })
    .optional(),
});

const steps = z.array(scriptStepSchema).min(1);

const scriptSchema = z
  .strictObject({
    name: z.string().min(1),
    rules: z.array(z.strictObject({ when: conditionSchema.optional(), steps })).default([]),
    default: steps.optional(),
  })
  .refine((script) => script.rules.length > 0 || script.default, 'a script needs `rules` or `default`');

type Condition = z.output<typeof conditionSchema>;

/**
 * Reads a script in its YAML form. Errors name `file`.
 * @throws GatewayError `script-invalid`, with every problem's line, column and path.
 */
export function parseYamlScript(source: string, file: string): Script {
  const lines = new LineCounter();
  const document = parseDocument(source, { lineCounter: lines, prettyErrors: false });
  const at = (offset: number): string => {
    const { line, col } = lines.linePos(offset);
    return `${file}:${line}:${col}`;
  };
  const problems = document.errors.map((error) => `${at(error.pos[0])}  ${error.message}`);
  if (problems.length > 0) throw invalid(problems);

  const parsed = scriptSchema.safeParse(document.toJS());
  if (parsed.success) return ruleScript(parsed.data);
  throw invalid(
    parsed.error.issues.map(
      (issue) =>
        `${at(offsetOf(document, issue.path))}  ${issue.path.join('.') || 'script'}: ${issue.message}`,
    ),
  );
}

const invalid = (problems: string[]): GatewayError => new GatewayError('script-invalid', problems.join('\n'));

/** The position of the value at `path`, or of the nearest value around it that exists. */
function offsetOf(document: ReturnType<typeof parseDocument>, path: readonly PropertyKey[]): number {
  for (let length = path.length; length > 0; length--) {
    const node = document.getIn(path.slice(0, length), true);
    if (typeof node === 'object' && node !== null && 'range' in node && Array.isArray(node.range)) {
      return Number(node.range[0]);
    }
  }
  return 0;
}

/** The first matching rule plays its steps; without one, `default` does. After the last step comes a short text. */
function ruleScript(document: z.output<typeof scriptSchema>): Script {
  return {
    name: document.name,
    play(request) {
      const matching = document.rules.find((rule, index) =>
        matches(rule.when ?? {}, request, `rule ${index}`),
      );
      const played: ScriptStep[] = matching?.steps ?? document.default ?? [];
      return played[request.step] ?? { text: played.length > 0 ? 'Done.' : 'No rule of the script matches.' };
    },
  };
}

/** Every given condition must hold. In a list, `…contains` needs all texts, and the others need one of the values. */
function matches(when: Condition, request: ScriptRequest, defaultLabel: string): boolean {
  const holdsAll = (text: string, wanted: string[] = []) => wanted.every((part) => text.includes(part));
  return (
    holdsAll(request.text, when.text_contains) &&
    holdsAll(request.userText, when.user_contains) &&
    holdsAll(request.instructions, when.instructions_contain) &&
    !(when.not_contains ?? []).some((part) => request.text.includes(part)) &&
    (when.family ?? [request.family]).includes(request.family) &&
    (when.wire ?? [request.wire]).includes(request.wire) &&
    (!when.chance || request.chance(when.chance.label ?? defaultLabel, when.chance.probability))
  );
}
