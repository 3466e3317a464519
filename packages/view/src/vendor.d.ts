/** From an npm package; `page-files.ts` of the server says which. Only what the page uses of it. */
declare module '*/vendor/highlight.js' {
  const highlight: {
    configure(options: { __emitter: new () => object }): void;
    getLanguage(name: string): object | undefined;
    highlight(
      code: string,
      options: { language: string; ignoreIllegals: boolean },
    ): { _emitter: { spans: { text: string; scope: string | null }[] } };
  };

  // biome-ignore lint/style/noDefaultExport: the package has no other export
  export { highlight as default };
}
