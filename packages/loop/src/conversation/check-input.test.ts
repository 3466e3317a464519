import { expect, test } from 'vitest';
import { calls, says, toolCall } from '../__fixtures__/scripted-model.ts';
import { customTool, startSession } from '../__fixtures__/start-session.ts';
import type { Input } from './turn.ts';

const png = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1').toString('base64');
const image = { type: 'image', data: png, mediaType: 'image/png' };

test.each([
  [[image, { type: 'image', mediaType: 'image/png' }], 'input[1].data is missing'],
  [[{ ...image, data: '' }], 'input[0].data is empty'],
  [[{ ...image, data: 'data:image/png;base64,aGk=' }], 'input[0].data is not base64'],
  [
    [{ ...image, mediaType: 'image/tiff' }],
    'input[0].mediaType is "image/tiff"; it must be one of image/png',
  ],
  [
    [{ ...image, data: 'aGk=' }],
    'input[0].data begins like no image that providers read, not like image/png',
  ],
  [[{ ...image, mediaType: 'image/gif' }], 'input[0].data begins like image/png, not like image/gif'],
  [[{ data: 'aGk=', type: 'image' }], 'input[0].mediaType is missing'],
  [[{ type: 'file', data: 'aGk=' }], 'input[0].type is "file"; it must be "text" or "image"'],
  [[{ type: 'text' }], 'input[0].text is missing'],
  [['hello'], 'input[0] is "hello"; it must be a part'],
  [[null], 'input[0] is null'],
  [{ type: 'text', text: 'x' }, 'input is an object; it must be a text or a list of parts'],
  [undefined, 'input is missing'],
  [42, 'input is 42'],
])(
  'a malformed input is refused with its place and leaves the session usable: %j',
  async (input, message) => {
    await using run = await startSession([says('ok')]);
    const malformed = input as unknown as Input;
    const refused = { name: 'TypeError', message: expect.stringContaining(message) };
    await expect(run.session.submit(malformed)).rejects.toMatchObject(refused);
    expect(() => run.session.steer(malformed)).toThrow(expect.objectContaining(refused));
    expect(() => run.session.followUp(malformed)).toThrow(expect.objectContaining(refused));
    expect(run.session.history).toEqual([]);
    expect(await run.session.submit([image] as Input)).toMatchObject({ reason: 'completed' });
  },
);

test.each([
  [undefined, /returned a value of type undefined/],
  [null, /returned null/],
  [42, /returned a value of type number/],
  [{ result: 1, rows: [] }, /returned an object with result, rows/],
  [
    { content: [{ type: 'image', mediaType: 'image/svg+xml', data: 'aGk=' }] },
    /content\[0\].mediaType is "image\/svg\+xml"/,
  ],
  [{ content: 7 }, /content is 7/],
])('a tool that returns %j gives the model a clear error, and the loop goes on', async (output, message) => {
  const tool = customTool('odd', () => output as never);
  await using run = await startSession([calls(toolCall('odd', {})), says('ok')], { tools: [tool] });
  expect(await run.session.submit('go')).toMatchObject({ reason: 'completed' });
  expect(run.of('TOOL_CALL_END')[0]?.data).toMatchObject({
    status: 'failed',
    isError: true,
    output: expect.stringMatching(message),
  });
});
