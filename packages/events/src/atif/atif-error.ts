/** A document is not ATIF, or events cannot become ATIF. `path` says where, for example `steps.3.source`. */
export class AtifError extends Error {
  override readonly name = 'AtifError';
  readonly path: string;

  constructor(path: string, message: string) {
    super(path === '' ? message : `${path}: ${message}`);
    this.path = path;
  }
}
