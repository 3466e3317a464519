/** An item of `allowEndpoints`. Groups: the method (optional), the path, and the `*` for any rest of the path. */
export const ENDPOINT_RULE = /^(?:([A-Z]+) +)?(\/[\w.~:@+,=/-]*)(\*?)$/;
