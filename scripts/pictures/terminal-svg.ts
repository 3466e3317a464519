const CHARACTER = 7.8;
const LINE = 18;
const MARGIN = 16;
const COLOURS: Readonly<Record<string, string>> = {
  '31': '#ff7b72',
  '32': '#7ee787',
  '33': '#e3b341',
};

/** A picture of a terminal, as SVG: the command, and what it printed, with bold, dim and the colours that we use. */
export function terminalSvg(command: string, output: string): string {
  const lines = [`\u001b[2m$\u001b[22m \u001b[1m${command}\u001b[22m`, '', ...output.trimEnd().split('\n')];
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of a terminal begin with it
  const plain = lines.map((line) => line.replace(/\u001b\[\d+m/g, ''));
  const width = Math.ceil(Math.max(...plain.map(({ length }) => length)) * CHARACTER) + 2 * MARGIN;
  const height = lines.length * LINE + 2 * MARGIN;
  const rows = lines.map((line, index) => {
    const y = MARGIN + (index + 0.75) * LINE;
    return `<text x="${MARGIN}" y="${y}" xml:space="preserve">${spans(line)}</text>`;
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img">
<title>What ${escaped(command)} prints</title>
<rect width="${width}" height="${height}" rx="8" fill="#0d1117"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="13" fill="#e6edf3">
${rows.join('\n')}
</g>
</svg>
`;
}

function spans(line: string): string {
  const style = { fill: '', bold: false, dim: false };
  // biome-ignore lint/suspicious/noControlCharactersInRegex: the codes of a terminal begin with it
  const parts = line.split(/\u001b\[(\d+)m/);
  let made = '';
  for (const [index, part] of parts.entries()) {
    if (index % 2 === 0) {
      if (part !== '') made += `<tspan${attributes(style)}>${escaped(part)}</tspan>`;
    } else if (part === '1') style.bold = true;
    else if (part === '2') style.dim = true;
    else if (part === '22') Object.assign(style, { bold: false, dim: false });
    else style.fill = COLOURS[part] ?? '';
  }
  return made;
}

const attributes = ({ fill, bold, dim }: { fill: string; bold: boolean; dim: boolean }): string =>
  `${fill && ` fill="${fill}"`}${bold ? ' font-weight="bold"' : ''}${dim ? ' fill-opacity="0.6"' : ''}`;

const escaped = (text: string): string =>
  text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
