import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { ContentBlock, InitializeResponse } from '@agentclientprotocol/sdk';
import { messageOf, WhetstoneError } from '@whetstone/errors';
import { type InputItem, textOf } from '../../kit/input-items.ts';
import { mediaTypeOf } from '../../kit/media-type.ts';
import { workspaceFile } from '../../kit/workspace-file.ts';
import type { CommandTurn } from '../native-agent.ts';
import type { ClientOptions } from './client-options.ts';

/**
 * The parts of a prompt as blocks of the protocol. A file of the workspace and a mention with an address are links, which
 * every agent takes, and a difference is a resource where the agent takes those. Everything else is said in words: a skill,
 * and what lies outside the workspace.
 *
 * @throws WhetstoneError `input-unsupported` for an image that the agent does not take or that cannot be read
 */
export async function promptBlocks(
  turn: CommandTurn,
  agent: InitializeResponse,
  { dropsImagesBesideLinks = false }: Pick<ClientOptions, 'dropsImagesBesideLinks'>,
): Promise<ContentBlock[]> {
  const { text, items = [{ type: 'text', text }] } = turn.input;
  const onlyWords = dropsImagesBesideLinks && items.some(({ type }) => type === 'image');
  const blocks: ContentBlock[] = [];
  for (const [index, item] of items.entries()) {
    const isNamed = onlyWords && item.type !== 'image';
    blocks.push(isNamed ? inWords(item) : await blockOf(item, index, turn, agent));
  }
  // Agents join the texts of a prompt, and what they make of a link, as they are.
  return blocks.map((block, index) =>
    block.type !== 'text' || index === blocks.length - 1 ? block : { ...block, text: `${block.text}\n\n` },
  );
}

const inWords = (item: InputItem): ContentBlock => ({ type: 'text', text: textOf([item]) });

async function blockOf(
  item: InputItem,
  index: number,
  { workingDirectory, place }: CommandTurn,
  { agentCapabilities, agentInfo }: InitializeResponse,
): Promise<ContentBlock> {
  const { image = false, embeddedContext = false } = agentCapabilities?.promptCapabilities ?? {};
  switch (item.type) {
    case 'image': {
      if (!image) {
        const message = `Agent ${agentInfo?.name ?? ''} does not offer the prompt capability "image".`;
        throw new WhetstoneError('input-unsupported', message, {
          hint: 'Leave the image out, or choose an agent that takes images.',
        });
      }
      const path = 'path' in item ? await workspaceFile(item.path, workingDirectory, place) : undefined;
      return path === undefined ? inWords(item) : await imageAt(path, place?.hostPath(path) ?? path);
    }
    case 'file': {
      const path = await workspaceFile(item.path, workingDirectory, place);
      if (path === undefined) return inWords(item);
      return { type: 'resource_link', name: basename(path), uri: pathToFileURL(path).href };
    }
    case 'mention':
      if (item.path === undefined) return inWords(item);
      return { type: 'resource_link', name: item.name, uri: item.path };
    case 'diff': {
      if (!embeddedContext) return inWords(item);
      const resource = { uri: `prompt:${index}.diff`, mimeType: 'text/x-diff', text: item.diff };
      return { type: 'resource', resource };
    }
    default:
      return inWords(item);
  }
}

async function imageAt(path: string, hostPath: string): Promise<ContentBlock> {
  try {
    const mimeType = mediaTypeOf(path);
    return { type: 'image', mimeType, data: (await readFile(hostPath)).toString('base64') };
  } catch (error) {
    throw new WhetstoneError(
      'input-unsupported',
      `An image of the prompt cannot be given: ${messageOf(error)}`,
    );
  }
}
