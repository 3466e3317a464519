/** Whether a configuration is code, which has the keys of YAML in its default export. */
export const isModule = (file: string): boolean => /\.[cm]?[jt]s$/.test(file);
