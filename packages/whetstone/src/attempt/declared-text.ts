/** Text with each run of white space as one space, for comparing: agents wrap, indent and cut texts. */
export const evened = (text: string): string => text.replaceAll(/\s+/g, ' ').trim();

/** The longest line of a text, which identifies it: hardly any other text contains it. Empty for an empty text. */
export function tellingLine(text: string): string {
  const lines = text.split('\n').map(evened);
  return lines.reduce((longest, line) => (line.length > longest.length ? line : longest), '');
}

/** A SKILL.md without its front matter, which agents list: only an agent that reads the file sees the rest. */
export const skillBody = (text: string): string =>
  text.replace(/^\uFEFF?---[\s\S]*?\n---[ \t]*(\r?\n|$)/, '');

/** An estimate: in all common tokenizers, a token of English or code is about four characters. */
export const estimateTokens = (text: string): number => Math.ceil(text.length / 4);

/** Agents write `mcp__SERVER__TOOL`, `mcp_SERVER_TOOL`, `SERVER_TOOL` or `SERVER-TOOL`, some with `_` for every `-`. */
export function serverOfTool(tool: string, servers: readonly string[]): string | undefined {
  const name = tool.replaceAll('-', '_');
  const fitting = servers.filter((server) => {
    const start = server.replaceAll('-', '_');
    return [`mcp__${start}__`, `mcp_${start}_`, `${start}_`].some(
      (prefix) => name.startsWith(prefix) && name.length > prefix.length,
    );
  });
  return fitting.sort((a, b) => b.length - a.length)[0];
}
