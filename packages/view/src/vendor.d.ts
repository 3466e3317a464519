/** From an npm package; `page-files.ts` of the server says which. */
declare module '*/vendor/highlight.js' {
  const highlight: any;
  export default highlight;
}
