import type { Segment, TemplateProblem } from './template.ts';

/**
 * Where in a POSIX shell script a variable of the template stands, and so how its value is written there.
 *
 * `word`, `double`, `single`: the value itself, quoted for that place. Used as long as the script so far has only plain
 * quoting, which this file follows exactly.
 *
 * `reference-*`: behind the first `$(`, backtick, `${` or here-document the value is written once, at the top, as an
 * assignment to a shell variable, and the place gets a reference to it. A shell never reads the result of an expansion as
 * code, so that no misreading of an exotic script can make a value run.
 */
export type Form =
  | 'word'
  | 'double'
  | 'single'
  | 'reference-word'
  | 'reference-double'
  | 'reference-single'
  | 'comment';

export type ShellPart = { kind: 'text'; text: string } | { kind: 'value'; name: string; form: Form };

export type ShellPlan = { parts: ShellPart[]; problems: TemplateProblem[] };

type HereDocument = { delimiter: string; quoted: boolean; stripTabs: boolean };

type Context =
  | { kind: 'command'; end: '' | ')' | '`'; parentheses: number; wordStart: boolean; pending: HereDocument[] }
  | { kind: 'single' }
  | { kind: 'double' }
  | { kind: 'comment' }
  | { kind: 'parameter'; inDouble: boolean }
  | { kind: 'arithmetic'; open: string; close: string; depth: number }
  | { kind: 'here-document'; document: HereDocument; substitution: boolean };

/** One character of the script, or a variable of the template. */
type Item = string | { name: string; offset: number };

/** Finds for every variable of a shell template the form that its value takes. */
export function planShell(segments: readonly Segment[]): ShellPlan {
  const items: Item[] = segments.flatMap((segment): Item[] =>
    segment.kind === 'text' ? segment.text.split('') : [{ name: segment.name, offset: segment.offset }],
  );
  const walk = new ShellWalk(items);
  return walk.plan();
}

/** Blanks are space and tab alone: what other systems call white space is part of a word. */
const WORD_BREAK = /[ \t\n;&|<>()]/;

/** The lexical state of a POSIX shell along a script. */
class ShellWalk {
  private readonly items: readonly Item[];
  private index = 0;
  private certain = true;
  private readonly stack: Context[] = [command('')];
  private readonly parts: ShellPart[] = [];
  private readonly problems: TemplateProblem[] = [];

  constructor(items: readonly Item[]) {
    this.items = items;
  }

  plan(): ShellPlan {
    while (this.index < this.items.length) this.step();
    const open = this.stack.find(({ kind }) => kind === 'single' || kind === 'double');
    if (open && this.certain) {
      this.problems.push({
        message: `a ${open.kind === 'single' ? "'" : '"'} that is never closed`,
        offset: 0,
        length: 0,
      });
    }
    return { parts: this.parts, problems: this.problems };
  }

  private step(): void {
    const context = this.top();
    const item = this.items[this.index];
    if (item === undefined) return;
    if (typeof item !== 'string') {
      this.index += 1;
      this.variable(context, item);
      return;
    }
    switch (context.kind) {
      case 'command':
        this.commandCharacter(context, item);
        return;
      case 'single':
        this.take(1);
        if (item === "'") this.stack.pop();
        return;
      case 'double':
        this.doubleCharacter(item);
        return;
      case 'comment':
        if (item === '\n') this.stack.pop();
        else this.take(1);
        return;
      case 'parameter':
        this.parameterCharacter(context, item);
        return;
      case 'arithmetic':
        this.take(1);
        if (item === context.open) context.depth += 1;
        if (item === context.close) context.depth -= 1;
        if (context.depth === 0) this.stack.pop();
        return;
      case 'here-document':
        this.hereDocumentCharacter(context, item);
        return;
    }
  }

  private variable(context: Context, { name, offset }: { name: string; offset: number }): void {
    const form = this.formIn(context);
    if (form.kind === 'form') this.parts.push({ kind: 'value', name, form: form.form });
    else this.problems.push({ ...form, offset, length: name.length + 2 });
    if (context.kind === 'command') context.wordStart = false;
  }

  private formIn(
    context: Context,
  ): { kind: 'form'; form: Form } | { kind: 'problem'; message: string; hint: string } {
    const problem = (message: string) => ({
      kind: 'problem' as const,
      message,
      hint: 'move the variable out of it, or write the command as a list',
    });
    switch (context.kind) {
      case 'command':
        return { kind: 'form', form: this.certain ? 'word' : 'reference-word' };
      case 'double':
        return { kind: 'form', form: this.certain ? 'double' : 'reference-double' };
      case 'single':
        return { kind: 'form', form: this.certain ? 'single' : 'reference-single' };
      case 'comment':
        return { kind: 'form', form: 'comment' };
      case 'parameter':
        // biome-ignore lint/suspicious/noTemplateCurlyInString: the shell's own syntax
        return problem("a variable cannot stand inside the shell's ${…}");
      case 'arithmetic':
        return problem('a variable cannot stand inside shell arithmetic, which would evaluate it');
      case 'here-document':
        if (context.document.quoted) {
          return problem(`a variable cannot stand in a here-document with a quoted delimiter`);
        }
        if (context.substitution) {
          return problem('a variable cannot stand behind a command substitution in a here-document');
        }
        return { kind: 'form', form: 'reference-double' };
    }
  }

  private commandCharacter(context: Extract<Context, { kind: 'command' }>, character: string): void {
    const atWordStart = context.wordStart;
    if (character === '\n') {
      this.take(1);
      context.wordStart = true;
      for (const document of context.pending.splice(0).reverse()) {
        this.stack.push({ kind: 'here-document', document, substitution: false });
      }
      this.endHereDocuments();
      return;
    }
    if (character === '\\' && this.items[this.index + 1] === '\n') {
      this.take(2);
      return;
    }
    context.wordStart = WORD_BREAK.test(character);
    if (character === '\\') this.escape();
    else if (character === "'" || character === '"')
      this.push({ kind: character === "'" ? 'single' : 'double' }, 1);
    else if (character === '`' && context.end === '`') this.pop();
    else if (character === '`') this.enter(command('`'), 1);
    else if (character === '$') this.dollar(false);
    else if (character === '(') this.openParenthesis(context);
    else if (character === ')') this.closeParenthesis(context);
    else if (character === '#' && atWordStart) this.push({ kind: 'comment' }, 1);
    else if (character === '<' && this.items[this.index + 1] === '<') this.hereDocumentOperator(context);
    else this.take(1);
  }

  private openParenthesis(context: Extract<Context, { kind: 'command' }>): void {
    if (this.items[this.index + 1] === '(') {
      this.enter(arithmetic('(', ')', 2), 2);
      return;
    }
    context.parentheses += 1;
    this.take(1);
  }

  private closeParenthesis(context: Extract<Context, { kind: 'command' }>): void {
    if (context.end === ')' && context.parentheses === 0) {
      this.pop();
      return;
    }
    context.parentheses = Math.max(0, context.parentheses - 1);
    this.take(1);
  }

  private doubleCharacter(character: string): void {
    if (character === '\\') this.escape();
    else if (character === '"') this.pop();
    else if (character === '`') this.enter(command('`'), 1);
    else if (character === '$') this.dollar(true);
    else this.take(1);
  }

  private parameterCharacter(context: Extract<Context, { kind: 'parameter' }>, character: string): void {
    if (character === '\\') this.escape();
    else if (character === '}') this.pop();
    else if (character === '"') this.push({ kind: 'double' }, 1);
    else if (character === "'" && !context.inDouble) this.push({ kind: 'single' }, 1);
    else if (character === '`') this.enter(command('`'), 1);
    else if (character === '$') this.dollar(context.inDouble);
    else this.take(1);
  }

  /** A backslash and what it protects. Before a variable it would protect our own opening quote. */
  private escape(): void {
    const next = this.items[this.index + 1];
    if (next !== undefined && typeof next !== 'string') {
      this.problems.push({
        message: 'a backslash directly before a variable',
        hint: 'remove it: values are quoted already',
        offset: next.offset - 1,
        length: next.name.length + 3,
      });
      this.take(1);
      return;
    }
    this.take(2);
  }

  private dollar(inDouble: boolean): void {
    const next = this.items[this.index + 1];
    if (next !== undefined && typeof next !== 'string') {
      this.problems.push({
        message: `a $ directly before the variable {${next.name}}`,
        hint: `write {${next.name}}; a variable of the shell is \${{NAME}}`,
        offset: next.offset - 1,
        length: next.name.length + 3,
      });
      this.take(1);
      return;
    }
    if (next === '(' && this.items[this.index + 2] === '(') this.enter(arithmetic('(', ')', 2), 3);
    else if (next === '[') this.enter(arithmetic('[', ']', 1), 2);
    else if (next === '(') this.enter(command(')'), 2);
    else if (next === '{') this.enter({ kind: 'parameter', inDouble }, 2);
    else if (next === "'" && !inDouble) this.enter({ kind: 'single' }, 2);
    else this.take(1);
  }

  private hereDocumentOperator(context: Extract<Context, { kind: 'command' }>): void {
    this.certain = false;
    if (this.items[this.index + 2] === '<') {
      this.take(3);
      return;
    }
    this.take(2);
    const stripTabs = this.items[this.index] === '-';
    if (stripTabs) this.take(1);
    while (this.items[this.index] === ' ' || this.items[this.index] === '\t') this.take(1);
    let delimiter = '';
    let quoted = false;
    for (let item = this.items[this.index]; item !== undefined; item = this.items[this.index]) {
      if (typeof item !== 'string') {
        this.problems.push({
          message: 'a variable cannot be the delimiter of a here-document',
          offset: item.offset,
          length: item.name.length + 2,
        });
        return;
      }
      if (WORD_BREAK.test(item)) break;
      if (/['"\\]/.test(item)) quoted = true;
      else delimiter += item;
      this.take(1);
    }
    context.pending.push({ delimiter, quoted, stripTabs });
  }

  private hereDocumentCharacter(
    context: Extract<Context, { kind: 'here-document' }>,
    character: string,
  ): void {
    if (context.document.quoted) this.take(1);
    else if (character === '\\') this.escape();
    else if (character === '$' && !this.startsSubstitution()) this.dollar(true);
    else {
      if (character === '`' || this.startsSubstitution()) context.substitution = true;
      this.take(1);
    }
    if (character === '\n') this.endHereDocuments();
  }

  private startsSubstitution(): boolean {
    const next = this.items[this.index + 1];
    return this.items[this.index] === '$' && (next === '(' || next === '{');
  }

  /** At the start of a line: leaves the here-documents whose delimiter stands here. */
  private endHereDocuments(): void {
    for (let context = this.top(); context.kind === 'here-document'; context = this.top()) {
      const end = this.items.indexOf('\n', this.index);
      const line = this.items.slice(this.index, end === -1 ? undefined : end);
      if (line.some((item) => typeof item !== 'string')) return;
      const text = line.join('');
      const { delimiter, stripTabs } = context.document;
      if ((stripTabs ? text.replace(/^\t+/, '') : text) !== delimiter) return;
      this.take(line.length + 1);
      this.stack.pop();
    }
  }

  private top(): Context {
    return this.stack.at(-1) ?? command('');
  }

  private push(context: Context, length: number): void {
    this.take(length);
    this.stack.push(context);
  }

  /** Enters something beyond plain quoting: from here on values are written as references. */
  private enter(context: Context, length: number): void {
    this.certain = false;
    this.push(context, length);
  }

  private pop(): void {
    this.take(1);
    this.stack.pop();
  }

  private take(count: number): void {
    for (const item of this.items.slice(this.index, this.index + count)) {
      const last = this.parts.at(-1);
      if (typeof item !== 'string') throw new TypeError('a variable is never taken as text');
      if (last?.kind === 'text') last.text += item;
      else this.parts.push({ kind: 'text', text: item });
    }
    this.index += count;
  }
}

function command(end: '' | ')' | '`'): Context {
  return { kind: 'command', end, parentheses: 0, wordStart: true, pending: [] };
}

function arithmetic(open: string, close: string, depth: number): Context {
  return { kind: 'arithmetic', open, close, depth };
}
