/** The kinds of files that a search may ask for by a short name, as globs on their names. */
const FILE_TYPES: Readonly<Record<string, readonly string[]>> = {
  c: ['*.c', '*.h'],
  cpp: ['*.cpp', '*.cc', '*.cxx', '*.hpp', '*.hh', '*.h', '*.hxx'],
  cs: ['*.cs'],
  css: ['*.css', '*.scss', '*.sass', '*.less'],
  dart: ['*.dart'],
  docker: ['*Dockerfile*', '*.dockerfile'],
  elixir: ['*.ex', '*.exs'],
  go: ['*.go'],
  haskell: ['*.hs', '*.lhs'],
  html: ['*.html', '*.htm'],
  java: ['*.java'],
  js: ['*.js', '*.jsx', '*.mjs', '*.cjs', '*.vue'],
  json: ['*.json'],
  kotlin: ['*.kt', '*.kts'],
  lua: ['*.lua'],
  make: ['*[Mm]akefile*', '*.mk'],
  markdown: ['*.md', '*.markdown', '*.mdx'],
  php: ['*.php'],
  py: ['*.py', '*.pyi'],
  ruby: ['*.rb', 'Gemfile', 'Rakefile', '*.gemspec'],
  rust: ['*.rs'],
  scala: ['*.scala', '*.sbt'],
  sh: ['*.sh', '*.bash', '*.zsh', '.bashrc', '.zshrc'],
  sql: ['*.sql'],
  svelte: ['*.svelte'],
  swift: ['*.swift'],
  toml: ['*.toml'],
  ts: ['*.ts', '*.tsx', '*.mts', '*.cts'],
  txt: ['*.txt'],
  xml: ['*.xml', '*.xsd', '*.xsl', '*.svg'],
  yaml: ['*.yaml', '*.yml'],
  zig: ['*.zig'],
};

const ALIASES: Readonly<Record<string, string>> = {
  javascript: 'js',
  typescript: 'ts',
  python: 'py',
  rs: 'rust',
  md: 'markdown',
  rb: 'ruby',
  csharp: 'cs',
  yml: 'yaml',
  shell: 'sh',
};

/** Throws for a kind that is not in the table. */
export function fileTypeGlobs(type: string): readonly string[] {
  const globs = FILE_TYPES[ALIASES[type] ?? type];
  if (!globs)
    throw new Error(`Unknown file type ${type}. Use glob, or one of: ${Object.keys(FILE_TYPES).join(', ')}.`);
  return globs;
}
