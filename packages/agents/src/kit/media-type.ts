import { extname } from 'node:path';

const MEDIA: Readonly<Record<string, string>> = {
  '.png': 'image/png',
  '.jpg': 'image/jpeg',
  '.jpeg': 'image/jpeg',
  '.gif': 'image/gif',
  '.webp': 'image/webp',
};

/** The media type of an image that models can read, by its name. Throws for any other file. */
export function mediaTypeOf(path: string): string {
  const media = MEDIA[extname(path).toLowerCase()];
  if (media === undefined)
    throw new Error(`${path} is not an image that a model can read (PNG, JPEG, GIF, WebP).`);
  return media;
}
