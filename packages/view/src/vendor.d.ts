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

/** Sets `globalThis.Diff`, because the package has no module in one file. */
declare module '*/vendor/diff.js';

declare var Diff: {
  diffLines(a: string, b: string, options: { maxEditLength: number }): DiffPart<string>[] | undefined;
  diffArrays<Item>(a: Item[], b: Item[], options: { maxEditLength: number }): DiffPart<Item[]>[] | undefined;
};

declare type DiffPart<Value> = { value: Value; count: number; added: boolean; removed: boolean };
