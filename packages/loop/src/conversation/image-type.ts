/** The images that every provider reads, and how their files begin, read as Latin-1. */
const SIGNATURES: readonly (readonly [mediaType: string, signature: RegExp])[] = [
  ['image/png', /^\x89PNG\r\n/],
  ['image/jpeg', /^\xff\xd8\xff/],
  ['image/gif', /^GIF8/],
  ['image/webp', /^RIFF.{4}WEBP/s],
];

export const MEDIA_TYPES: readonly string[] = SIGNATURES.map(([mediaType]) => mediaType);

/** Bytes from which the type of an image can be told. */
const MOST_BYTES = 12;

/** The media type of an image by its first bytes; `undefined` for what is not an image that every provider reads. */
export function imageTypeOf(bytes: Uint8Array): string | undefined {
  const start = Buffer.from(bytes.subarray(0, MOST_BYTES)).toString('latin1');
  return SIGNATURES.find(([, signature]) => signature.test(start))?.[0];
}
