const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  hellip: '…',
  mdash: '—',
  ndash: '–',
};

/** The readable text of an HTML page: no scripts, styles or tags; links keep their address. A reading aid, not a parser. */
export function htmlToText(html: string): string {
  return decodeEntities(
    html
      .replaceAll(/<!--[\s\S]*?-->/g, '')
      .replaceAll(/<(script|style|noscript|template|svg|head)\b[\s\S]*?<\/\1\s*>/gi, '')
      .replaceAll(/\s+/g, ' ')
      .replaceAll(/<a\b[^>]*?href="(https?:[^"]*)"[^>]*>(.*?)<\/a>/gi, '$2 ($1)')
      .replaceAll(/<li\b[^>]*>/gi, '\n- ')
      .replaceAll(/<h([1-6])\b[^>]*>/gi, (_tag, level: string) => `\n\n${'#'.repeat(Number(level))} `)
      .replaceAll(/<(?:br|tr|dt|dd)\b[^>]*>/gi, '\n')
      .replaceAll(
        /<\/?(?:p|div|section|article|ul|ol|table|pre|blockquote|h[1-6]|header|footer|main)\b[^>]*>/gi,
        '\n\n',
      )
      .replaceAll(/<[^>]*>/g, ''),
  )
    .replaceAll(/[ \t]*\n[ \t]*/g, '\n')
    .replaceAll(/\n{3,}/g, '\n\n')
    .trim();
}

function decodeEntities(text: string): string {
  return text.replaceAll(/&(#x[\da-f]+|#\d+|\w+);/gi, (whole, name: string) => {
    if (!name.startsWith('#')) return ENTITIES[name.toLowerCase()] ?? whole;
    const code = /^#x/i.test(name) ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1));
    return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code).toWellFormed() : whole;
  });
}
