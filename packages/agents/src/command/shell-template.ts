// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the syntax of the shell
import { present } from '@whetstone/events/present';
import {
  HOLE,
  type Hole,
  type HolePlace,
  type LexedScript,
  lexShell,
  type Range,
  type ShellWord,
} from './shell-lexer.ts';
import { parseTemplate, type TemplateProblem } from './template.ts';

/** Reads the template of a shell script. */
export function lexTemplate(template: string): LexedScript {
  const { segments } = parseTemplate(template);
  const script = segments.map((segment) => (segment.kind === 'text' ? segment.text : HOLE)).join('');
  return lexShell(
    script,
    segments.filter((segment) => segment.kind === 'variable'),
  );
}

/** The variables in a part of the script. */
export function holesIn({ holes }: LexedScript, { start, end }: Range): Hole[] {
  return holes.filter(({ at }) => start <= at && at < end);
}

/** The text of a word, with each variable replaced. */
export function wordText(lexed: LexedScript, word: ShellWord, lookUp: (name: string) => string): string {
  const holes = holesIn(lexed, word).values();
  return word.text.replaceAll(HOLE, () => lookUp(holes.next().value?.name ?? ''));
}

/** A script and those inside it: its substitutions, and its quoted words, which may be scripts for other shells. */
export function* scriptsIn(
  lexed: LexedScript,
  isQuoted = false,
): Generator<{ lexed: LexedScript; isQuoted: boolean }> {
  yield { lexed, isQuoted };
  for (const token of lexed.tokens) {
    if (token.kind === 'operator') continue;
    const word = token.kind === 'word' ? token : token.target;
    for (const tokens of word.substitutions) yield* scriptsIn({ ...lexed, tokens }, isQuoted);
    if (word.isQuoted && word.text.length < lexed.script.length)
      yield* scriptsIn(lexShell(word.text, holesIn(lexed, word)), true);
  }
}

const hint = 'move the variable out of it, or write the command as a list';

/**
 * How to reference a value so that the shell does not split it, or why that is impossible. A shell never reads the
 * result of an expansion as code, so no value can run even if the lexer misreads a script.
 */
const PLACES: Record<HolePlace, { reference: string } | { message: string; hint?: string }> = {
  word: { reference: '"${NAME}"' },
  double: { reference: '${NAME}' },
  'here-document': { reference: '${NAME}' },
  single: { reference: `'"\${NAME}"'` },
  comment: { reference: '' },
  escaped: {
    message: 'a backslash directly before a variable',
    hint: 'remove it: values are quoted already',
  },
  dollar: {
    message: 'a $ directly before a variable',
    hint: 'write {NAME}; a variable of the shell is ${{NAME}}',
  },
  parameter: { message: "a variable cannot stand inside the shell's ${…}", hint },
  arithmetic: { message: 'a variable cannot stand inside shell arithmetic, which would evaluate it', hint },
  delimiter: { message: 'a variable cannot be the delimiter of a here-document' },
  literal: { message: 'a variable cannot stand in a here-document with a quoted delimiter', hint },
  behind: { message: 'a variable cannot stand behind a command substitution in a here-document', hint },
};

/** Variables in places where no value can be referenced, and a quotation mark that is never closed. */
export function shellTemplateProblems({ holes, unclosedQuote }: LexedScript): TemplateProblem[] {
  const problems = holes.flatMap(({ name, place, ...hole }): TemplateProblem[] => {
    const found = PLACES[place];
    if ('reference' in found) return [];
    // The backslash or `$` before the variable is a part of the problem.
    const before = place === 'escaped' || place === 'dollar' ? 1 : 0;
    const range = { offset: hole.offset - before, length: before + name.length + 2 };
    return [{ message: found.message, ...present({ hint: found.hint?.replace('NAME', name) }), ...range }];
  });
  if (unclosedQuote === undefined) return problems;
  return [...problems, { message: `a ${unclosedQuote} that is never closed`, offset: 0, length: 0 }];
}

/**
 * The script with a reference for each variable, and in front of it an assignment of each referenced value. The
 * assigned variables belong to the shell and not to the environment: programs do not inherit them.
 */
export function renderShell({ script, holes }: LexedScript, lookUp: (name: string) => string): string {
  const assignments = new Map<string, string>();
  const [first = '', ...rest] = script.split(HOLE);
  const body = holes.map(({ name, place }, index) => {
    const found = PLACES[place];
    const reference = 'reference' in found ? found.reference.replace('NAME', `whetstone_${name}`) : '';
    if (reference !== '')
      assignments.set(name, `whetstone_${name}='${lookUp(name).replaceAll("'", "'\\''")}'\n`);
    return reference + rest[index];
  });
  return [...assignments.values(), first, ...body].join('');
}
