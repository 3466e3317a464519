/** The text of a content that is one text or a list of parts. `lose` gets the type of each part that is not text. */
export function contentText(
  content: string | readonly { type: string; text?: string | undefined }[],
  lose: (type: string) => void,
): string {
  if (typeof content === 'string') return content;
  return content
    .flatMap(({ type, text = '' }) => {
      if (type === 'text') return [text];
      lose(type);
      return [];
    })
    .join('\n');
}
