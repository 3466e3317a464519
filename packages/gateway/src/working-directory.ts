const workingDirectoryPatterns = [
  /<cwd>\s*([^<\n]{1,4096})/,
  /working directory(?: is)?:? *`?(\/[^`\n]*)/i,
  /in the directory:? *`?(\/[^`\n]*)/i,
  // Gemini CLI may have several directories. It was started in the first.
  /Workspace Directories:\** *\n *- *(\/[^\n]*)/,
];

/** The directory that an agent works in, as it reports it to its model; `undefined` when it does not. */
export function workingDirectory(text: string): string | undefined {
  for (const pattern of workingDirectoryPatterns) {
    const directory = pattern.exec(text)?.[1]?.trim();
    if (directory) return directory;
  }
  return undefined;
}
