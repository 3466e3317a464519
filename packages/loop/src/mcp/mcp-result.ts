import type { CallToolResult } from '@modelcontextprotocol/client';

type Block = CallToolResult['content'][number];

/** What the model reads of a result. Pictures, sound and files are named, not shown: a server's word is text here. */
export function mcpResultText({ content, structuredContent }: CallToolResult): string {
  const texts = content.map(textOf);
  // Servers are asked to say the same as text; where one does not, this is all there is.
  const isSaid = content.some(({ type }) => type === 'text');
  if (structuredContent !== undefined && !isSaid) texts.push(JSON.stringify(structuredContent));
  return texts.length === 0 ? '(no output)' : texts.join('\n');
}

function textOf(block: Block): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'image':
    case 'audio':
      return `[${block.type} of ${sizeOf(block.data)} bytes, ${block.mimeType}, not shown]`;
    case 'resource_link':
      return `[resource ${block.name}: ${block.uri}]`;
    case 'resource': {
      const { resource } = block;
      if ('text' in resource) return `[resource ${resource.uri}]\n${resource.text}`;
      return `[resource ${resource.uri} of ${sizeOf(resource.blob)} bytes, not shown]`;
    }
  }
}

const sizeOf = (base64: string): number => Buffer.byteLength(base64, 'base64');
