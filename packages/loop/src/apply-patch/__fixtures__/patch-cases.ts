import fc from 'fast-check';

/** A patch and the files that it is for. */
export type PatchCase = { files: Record<string, string>; patch: string };

/** Few and alike, so that lines repeat, and match only once whitespace or punctuation is let go. */
const LINES = ['a', 'b', 'c', '', '  a', 'a  ', '\tb', 'x – y', 'x - y', '“q”', '"q"', 'é😀', '+', '@@'];

const line = fc.constantFrom(...LINES);
const mostly = <T>(usual: T, other: fc.Arbitrary<T>, weight = 8) =>
  fc.oneof({ weight, arbitrary: fc.constant(usual) }, { weight: 1, arbitrary: other });

const fileLines = fc.array(line, { maxLength: 9 });
const ending = fc.record({
  lineEnd: mostly('\n', fc.constant('\r\n'), 5),
  final: mostly(true, fc.constant(false), 4),
});

type Decisions = {
  start: number;
  before: number;
  removed: number;
  after: number;
  added: string[];
  header: number;
  disturb: number;
  other: string;
  interleave: boolean;
  endOfFile: boolean;
  blank: boolean;
};

const decisions: fc.Arbitrary<Decisions> = fc.record({
  start: fc.nat(100),
  before: fc.nat(2),
  removed: fc.nat(2),
  after: fc.nat(2),
  added: fc.array(line, { maxLength: 3 }),
  header: fc.nat(9),
  disturb: fc.nat(16),
  other: line,
  interleave: fc.boolean(),
  endOfFile: mostly(false, fc.constant(true), 6),
  blank: mostly(false, fc.constant(true), 6),
});

const sectionKinds = fc.constantFrom('update', 'update', 'update', 'update', 'move', 'add', 'delete', 'missing');

const section = fc.record({
  kind: sectionKinds,
  chunks: fc.array(decisions, { minLength: 1, maxLength: 3 }),
  lines: fileLines,
});

export const patchCases: fc.Arbitrary<PatchCase> = fc
  .record({
    files: fc.array(fc.record({ lines: fileLines, ending }), { minLength: 3, maxLength: 3 }),
    sections: fc.array(section, { minLength: 1, maxLength: 3 }),
    samePath: mostly(false, fc.constant(true), 4),
    ontoItself: mostly(false, fc.constant(true), 5),
    heredoc: mostly(false, fc.constant(true), 15),
    spoil: fc.nat(30),
  })
  .map(({ files, sections, samePath, ontoItself, heredoc, spoil }) => {
    const names = ['one.txt', 'dir/two.txt', 'three'];
    const contents = Object.fromEntries(
      files.map(({ lines, ending: { lineEnd, final } }, index) => [
        names[index] ?? '',
        lines.join(lineEnd) + (final && lines.length > 0 ? lineEnd : ''),
      ]),
    );
    const body = sections.flatMap((given, index) => {
      const at = samePath ? 0 : index;
      const name = names[at] ?? '';
      const lines = files[at]?.lines ?? [];
      if (given.kind === 'add') return [`*** Add File: new-${index}`, ...given.lines.map((text) => `+${text}`)];
      if (given.kind === 'delete') return [`*** Delete File: ${name}`];
      if (given.kind === 'missing') return ['*** Update File: absent', '@@', '-a', '+b'];
      const chunks = given.chunks
        .toSorted((left, right) => place(left, lines) - place(right, lines))
        .flatMap((chunk, position) => chunkText(chunk, lines, position));
      const move = given.kind === 'move' ? [`*** Move to: ${ontoItself ? name : `moved/${index}`}`] : [];
      return [`*** Update File: ${name}`, ...move, ...chunks];
    });
    const whole = ['*** Begin Patch', ...body, '*** End Patch'];
    if (spoil < 3) whole.splice(1 + spoil * 2, 0, SPOILERS[spoil] ?? '');
    const text = heredoc ? ["<<'EOF'", ...whole, 'EOF'] : whole;
    return { files: contents, patch: `${text.join('\n')}\n` };
  });

const SPOILERS = ['no header', '\tneither this', '*** Rename File: x'];

function place({ start }: Decisions, lines: readonly string[]): number {
  return start % (lines.length + 1);
}

function chunkText(
  chunk: Decisions,
  lines: readonly string[],
  position: number,
): string[] {
  const at = place(chunk, lines);
  const before = lines.slice(Math.max(0, at - chunk.before), at);
  const removed = lines.slice(at, at + chunk.removed);
  const after = lines.slice(at + removed.length, at + removed.length + chunk.after);
  const added = chunk.added.map((text) => `+${text}`);
  const minus = removed.map((text) => `-${text}`);
  const middle = chunk.interleave
    ? minus.flatMap((text, index) => [text, ...added.slice(index, index + 1)]).concat(added.slice(minus.length))
    : [...minus, ...added];
  const body = [...before.map((text) => ` ${text}`), ...middle, ...after.map((text) => ` ${text}`)];
  return [
    ...header(chunk, lines, at - before.length, position),
    ...disturb(body, chunk),
    ...(chunk.endOfFile ? ['*** End of File'] : []),
    ...(chunk.blank ? [''] : []),
  ];
}

function header(
  chunk: Decisions,
  lines: readonly string[],
  first: number,
  position: number,
): string[] {
  const above = lines.slice(0, first).filter((text) => text.trim() !== '');
  const nearest = above.at(-1);
  if (chunk.header === 0 && position === 0) return [];
  if (chunk.header === 1 && nearest !== undefined) return [`@@ ${nearest}`];
  if (chunk.header === 2) return [`@@ ${chunk.other}`];
  if (chunk.header === 3 && above.length > 1) {
    return [`@@ ${above.at(-2)}`, `@@ ${nearest}`];
  }
  if (chunk.header === 4 && lines[first]?.trim()) {
    return [`@@ ${lines[first]}`];
  }
  return ['@@'];
}

/** What models do to the lines that they repeat. */
function disturb(body: readonly string[], { disturb: how, other, start }: Decisions): string[] {
  const at = body.length === 0 ? 0 : start % body.length;
  const text = body[at] ?? '';
  switch (how) {
    case 0:
      return body.toSpliced(at, 1, `${text}  `);
    case 1:
      return body.toSpliced(at, 1, text.replaceAll('–', '-').replaceAll(/[“”]/g, '"'));
    case 2:
      return body.toSpliced(at, 1, `${text.charAt(0)}${text.slice(1).trimStart()}`);
    case 3:
      return body.toSpliced(at, 1, ` ${other}`);
    case 4:
      return body.toSpliced(at, 1, '');
    case 5:
      return [...body, '-'];
    case 6:
      return [...body, ' '];
    case 7:
      return ['-', `+${other}`];
    case 8:
      return [...body, '-', `+${other}`];
    case 9:
      return [...body, '', `+${other}`, '+'];
    default:
      return [...body];
  }
}
