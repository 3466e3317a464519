import { expect, test } from 'vitest';
import { outlastedMinute } from './outlasted-minute.ts';

test('a session is loaded at once, unless it began in the same minute', async () => {
  let time = 59_990;
  const { afterNew, beforeLoad } = outlastedMinute(() => time);
  const { signal } = new AbortController();
  afterNew('session');
  await expect(beforeLoad('another', signal)).resolves.toBeUndefined();
  await expect(beforeLoad('session', AbortSignal.abort())).rejects.toThrow('abort');
  afterNew('session');
  time = 60_000;
  await beforeLoad('session', AbortSignal.abort());
});
