import { suggestion } from '@whetstone/errors/did-you-mean';

/** A template in pieces. Offsets are UTF-16 code units of the template. */
export type Segment = { kind: 'text'; text: string } | { kind: 'variable'; name: string; offset: number };

export type TemplateProblem = { message: string; hint?: string; offset: number; length: number };

export type Template = { segments: Segment[]; problems: TemplateProblem[] };

const PIECE = /\{\{|\}\}|\{([A-Za-z_]\w*)\}|\{[^{}\n]*\}|[{}\0]|[^{}\0]+/g;

/** Splits `text {name} text`; `{{` and `}}` are literal braces. Never throws: what is malformed is in `problems`. */
export function parseTemplate(template: string): Template {
  const segments: Segment[] = [];
  const problems: TemplateProblem[] = [];
  for (const { 0: written, 1: name, index: offset } of template.matchAll(PIECE)) {
    const last = segments.at(-1);
    const text = written === '{{' || written === '}}' ? written.slice(1) : written;
    if (name !== undefined) segments.push({ kind: 'variable', name, offset });
    else if (text === written && /[{}\0]/.test(text))
      problems.push({ ...malformed(text), offset, length: text.length });
    else if (last?.kind === 'text') last.text += text;
    else segments.push({ kind: 'text', text });
  }
  return { segments, problems };
}

function malformed(text: string): { message: string; hint: string } {
  switch (text) {
    case '\0':
      return { message: 'a NUL character, which no program can receive', hint: 'remove it' };
    case '}':
      return { message: 'a } that closes nothing', hint: 'write }} for a literal }' };
    case '{':
      return { message: 'a { that is not a variable', hint: 'write {{ for a literal {' };
    default:
      return {
        message: `${text} is not a variable`,
        hint: 'a variable is a plain {name}; write {{ and }} for literal braces',
      };
  }
}

/** Unknown variables of a template, each with a suggestion. */
export function unknownVariables(segments: readonly Segment[], known: readonly string[]): TemplateProblem[] {
  return segments.flatMap((segment) => {
    if (segment.kind === 'text' || known.includes(segment.name)) return [];
    return {
      message: `unknown variable {${segment.name}}`,
      hint: suggestion(segment.name, known).replace(/^did you mean (.*)\?/, 'did you mean {$1}?'),
      offset: segment.offset,
      length: segment.name.length + 2,
    };
  });
}

/** Inserts values as they are. */
export function fillTemplate(segments: readonly Segment[], lookUp: (name: string) => string): string {
  return segments.map((segment) => (segment.kind === 'text' ? segment.text : lookUp(segment.name))).join('');
}
