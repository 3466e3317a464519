/** What starts a TypeScript program of a fixture in a sandbox, whose environment does not say where compiled code is kept. */
export const fixtureCommand = (file: string): string[] => [
  'env',
  `NODE_COMPILE_CACHE=${process.env.NODE_COMPILE_CACHE ?? ''}`,
  process.execPath,
  file,
];
