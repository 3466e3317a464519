import { present } from '@whetstone/events/present';

/** Stands for a value in a script. A script cannot contain this character, because no program can receive it. */
export const HOLE = '\0';

/**
 * What surrounds a hole most closely. `escaped` and `dollar`: a backslash or a `$` is directly before it. `literal`: it
 * is in a here-document whose delimiter is quoted. `behind`: it is in a here-document, behind a substitution.
 */
export type HolePlace =
  | ('word' | 'double' | 'single' | 'comment' | 'escaped' | 'dollar' | 'parameter' | 'arithmetic')
  | ('delimiter' | 'here-document' | 'literal' | 'behind');

/** A variable of a template. `offset` is that of its opening brace in the template. */
export type Variable = { name: string; offset: number };
/** A variable, and its position in the script. */
export type Hole = Variable & { at: number; place: HolePlace };

/** `end` is exclusive. */
export type Range = { start: number; end: number };

export type ShellWord = Range & {
  kind: 'word';
  /** Without quotes and backslashes; expansions and holes as they are written. */
  text: string;
  isQuoted: boolean;
  /** Whether the shell replaces a part of the word: a parameter, a substitution, arithmetic, file names. */
  isExpanded: boolean;
  /** The tokens of each `$(…)` and `` `…` `` in it. */
  substitutions: ShellToken[][];
};

export type ShellToken =
  | ShellWord
  /** Separates commands: `;`, `&`, `&&`, `|`, `||`, `;;`, a parenthesis, a newline. */
  | { kind: 'operator'; text: string }
  | ShellRedirection;

/** `body` is the text of a here-document. */
export type ShellRedirection = { kind: 'redirection'; text: string; target: ShellWord; body: Range };

export type LexedScript = {
  script: string;
  tokens: ShellToken[];
  holes: Hole[];
  /** A quotation mark that is never closed. Reported only if nothing but plain quoting comes before it. */
  unclosedQuote?: string;
};

/**
 * Reads a POSIX shell script into words, operators and redirections, and finds what surrounds each hole. `variables`
 * are those of the holes, in order. It follows quoting, comments, here-documents, substitutions (also with `case`
 * inside), arithmetic, and the `$'…'` and `$[…]` of bash. It never throws: it reads as much as it can of a script that
 * a shell would refuse.
 */
export function lexShell(script: string, variables: readonly Variable[]): LexedScript {
  return new ShellLexer(script, variables).read();
}

/** Reserved words behind which a command begins. */
const BEFORE_COMMAND = new Set(['then', 'do', 'else', 'elif', 'if', 'while', 'until', '!', '{', 'time']);
const BLANKS = /(?:[ \t]|\\\n)+/y;
/** More than plain quoting: here shells differ. */
const INTRICATE = /`|\$[({['[]|\(\(|<</;

type Delimiter = { word: ShellWord; stripsTabs: boolean; body: Range };

class ShellLexer {
  readonly #script: string;
  readonly #variables: readonly Variable[];
  readonly #holes: Hole[] = [];
  #at = 0;
  #unclosedQuote: string | undefined;
  /** In backticks inside double quotes, `\"` is a quotation mark. */
  #quotesAreEscaped = false;

  constructor(script: string, variables: readonly Variable[]) {
    this.#script = script;
    this.#variables = variables;
  }

  read(): LexedScript {
    const tokens = this.#commands('');
    const unclosedQuote = this.#unclosedQuote;
    return { script: this.#script, tokens, holes: this.#holes, ...present({ unclosedQuote }) };
  }

  /** Reads commands, up to and with the `)` or backtick that ends them, or to the end of the script. */
  #commands(end: '' | ')' | '`'): ShellToken[] {
    const tokens: ShellToken[] = [];
    const pending: Delimiter[] = [];
    let parentheses = 0;
    let cases = 0;
    while (!this.#isOver()) {
      if (this.#match(BLANKS) || this.#skipComment(end)) continue;
      // The `)` behind a pattern of `case` does not end a substitution.
      if ((end === '`' || (parentheses === 0 && cases === 0)) && this.#take(end)) return tokens;
      if (this.#take('((')) {
        this.#arithmetic('(', ')', 2);
        continue;
      }
      const operator = this.#match(/&&|\|\||;;|[;&|()\n]/y);
      const redirection = operator ? undefined : this.#match(/\d*(?:<<<|<<-?|[<>]&|<>|>>|>\||[<>])/y);
      if (operator) {
        tokens.push({ kind: 'operator', text: operator });
        if (operator === '(') parentheses += 1;
        if (operator === ')') parentheses = Math.max(0, parentheses - 1);
        if (operator === '\n') for (const delimiter of pending.splice(0)) this.#hereDocument(delimiter);
      } else if (redirection) {
        tokens.push(this.#redirection(redirection, end, pending));
      } else {
        const last = tokens.at(-1) ?? { kind: 'operator' };
        const isCommand = last.kind === 'operator' || (last.kind === 'word' && BEFORE_COMMAND.has(last.text));
        const word = this.#word(end);
        tokens.push(word);
        if (isCommand && word.text === 'case') cases += 1;
        if (isCommand && word.text === 'esac') cases = Math.max(0, cases - 1);
      }
    }
    return tokens;
  }

  #skipComment(end: string): boolean {
    if (!this.#take('#')) return false;
    while (this.#match(end === '`' ? /[^\n\0`]+/y : /[^\n\0]+/y) || this.#takeHole('comment'));
    return true;
  }

  #redirection(text: string, end: string, pending: Delimiter[]): ShellToken {
    const holesBefore = this.#holes.length;
    this.#match(BLANKS);
    const target = this.#word(end);
    const body = { start: this.#at, end: this.#at };
    if (/^\d*<<-?$/.test(text)) {
      for (const hole of this.#holes.slice(holesBefore)) hole.place = 'delimiter';
      pending.push({ word: target, stripsTabs: text.endsWith('-'), body });
    }
    return { kind: 'redirection', text, target, body };
  }

  /** Reads the lines of a here-document, up to and with its delimiter. */
  #hereDocument({ word: { text, isQuoted }, stripsTabs, body }: Delimiter): void {
    body.start = this.#at;
    body.end = this.#at;
    let isContinued = false;
    let line = '';
    for (line of this.#script.slice(this.#at).match(/[^\n]*\n|[^\n]+/g) ?? []) {
      const written = line.replace('\n', '').replace(stripsTabs ? /^\t+/ : '', '');
      if (!isContinued && written === text) break;
      isContinued = !isQuoted && /(?<!\\)(?:\\\\)*\\$/.test(written);
      body.end += line.length;
      line = '';
    }
    let place: HolePlace = isQuoted ? 'literal' : 'here-document';
    while (this.#at < body.end) {
      if (this.#match(/[^\\$`\0]+/y) || this.#takeHole(place)) continue;
      if (isQuoted) this.#at += 1;
      else if (this.#match(/`|\$[({[]/y)) place = 'behind';
      else this.#special(emptyWord(this.#at), 'double');
    }
    this.#at = body.end + line.length;
  }

  /** Reads one word. It is empty if none begins here. */
  #word(end: string): ShellWord {
    const word = emptyWord(this.#at);
    for (;;) {
      const plain = this.#match(/[^\\'"`$\0 \t\n;&|<>()]+/y);
      if (plain) {
        word.text += plain;
        word.isExpanded ||= /[*?[]/.test(plain);
      } else if (this.#quotesAreEscaped && this.#take('\\"')) this.#quoted(word, '\\"');
      else if (this.#take("'") || this.#take("$'")) this.#quoted(word, "'");
      else if (this.#take('"')) this.#quoted(word, '"');
      else if (this.#isAt(end) || !this.#special(word, 'word')) break;
    }
    word.end = this.#at;
    return word;
  }

  #quoted(word: ShellWord, close: "'" | '"' | '\\"'): void {
    const before = this.#script.slice(0, this.#at);
    word.isQuoted = true;
    while (!this.#take(close)) {
      if (this.#isOver()) {
        if (!INTRICATE.test(before)) this.#unclosedQuote ??= close;
        return;
      }
      const plain = this.#match(close === "'" ? /[^'\0]+/y : /[^\\"`$\0]+/y);
      if (plain) word.text += plain;
      else if (close === "'") word.text += this.#takeHole('single') ? HOLE : '';
      else if (!this.#special(word, 'double')) word.text += this.#match(/"/y) ?? '';
    }
  }

  /** Reads a hole, an expansion or a backslash, which mean nearly the same everywhere. False if there is none. */
  #special(
    word: ShellWord,
    place: 'word' | 'double' | 'parameter',
    isInDouble = place === 'double',
  ): boolean {
    const start = this.#at;
    if (this.#takeHole(place)) {
      word.text += HOLE;
      return true;
    }
    if (this.#take('\\')) {
      const escaped = this.#takeHole('escaped') ? `\\${HOLE}` : (this.#match(/[\s\S]/y) ?? '');
      word.isQuoted ||= escaped !== '\n';
      if (escaped !== '\n') word.text += isInDouble && !/[$`"\\]/.test(escaped) ? `\\${escaped}` : escaped;
      return true;
    }
    if (this.#take('`')) this.#backticks(word, isInDouble);
    else if (this.#take('$((')) this.#arithmetic('(', ')', 2);
    else if (this.#take('$[')) this.#arithmetic('[', ']', 1);
    else if (this.#take('$(')) word.substitutions.push(this.#commands(')'));
    else if (this.#take('${')) this.#parameter(word, isInDouble);
    else if (!this.#take('$')) return false;
    else if (!this.#takeHole('dollar')) this.#match(/\w+|[@*#?$!-]/y);
    word.isExpanded = true;
    word.text += this.#script.slice(start, this.#at);
    return true;
  }

  #backticks({ substitutions }: ShellWord, isInDouble: boolean): void {
    const outer = this.#quotesAreEscaped;
    this.#quotesAreEscaped = isInDouble;
    substitutions.push(this.#commands('`'));
    this.#quotesAreEscaped = outer;
  }

  /** Reads up to and with the `}`. */
  #parameter({ substitutions }: ShellWord, isInDouble: boolean): void {
    const inner = { ...emptyWord(this.#at), substitutions };
    while (!this.#isOver() && !this.#take('}')) {
      if (this.#match(/[^\\'"`$\0}]+/y)) continue;
      if (this.#take('"')) this.#quoted(inner, '"');
      else if (!isInDouble && (this.#take("'") || this.#take("$'"))) this.#quoted(inner, "'");
      else if (!this.#special(inner, 'parameter', isInDouble)) this.#at += 1;
    }
  }

  /** Reads up to and with the parenthesis or bracket that closes `depth` open ones. Arithmetic has no words. */
  #arithmetic(open: string, close: string, depth: number): void {
    for (let left = depth; left > 0 && !this.#isOver(); ) {
      if (this.#takeHole('arithmetic')) continue;
      if (this.#take(open)) left += 1;
      else if (this.#take(close)) left -= 1;
      else this.#at += 1;
    }
  }

  #takeHole(place: HolePlace): boolean {
    if (!this.#take(HOLE)) return false;
    const variable = this.#variables[this.#holes.length];
    if (variable) this.#holes.push({ ...variable, at: this.#at - 1, place });
    return true;
  }

  #isOver(): boolean {
    return this.#at >= this.#script.length;
  }

  #isAt(text: string): boolean {
    return text !== '' && this.#script.startsWith(text, this.#at);
  }

  #take(text: string): boolean {
    if (!this.#isAt(text)) return false;
    this.#at += text.length;
    return true;
  }

  #match(pattern: RegExp): string | undefined {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#script)?.[0];
    this.#at += found?.length ?? 0;
    return found;
  }
}

function emptyWord(start: number): ShellWord {
  return { kind: 'word', start, end: start, text: '', isQuoted: false, isExpanded: false, substitutions: [] };
}
