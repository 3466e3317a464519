/**
 * The `data` of each server-sent event (HTML standard, "Server-sent events"), its lines joined. An event that the
 * stream's end cuts off comes as far as it got.
 */
export async function* eventData(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let data: string[] = [];
  for await (const line of lines(chunks)) {
    if (line === '') {
      if (data.length > 0) yield data.join('\n');
      data = [];
      continue;
    }
    const [, name, value = ''] = /^([^:]*)(?:: ?([\s\S]*))?$/.exec(line) ?? [];
    if (name === 'data') data.push(value);
  }
  if (data.length > 0) yield data.join('\n');
}

/** Lines end in CR, LF or both; a line may come in many chunks and is joined once. */
async function* lines(chunks: AsyncIterable<string>): AsyncGenerator<string> {
  let pending: string[] = [];
  let endedInReturn = false;
  for await (const chunk of chunks) {
    const text = endedInReturn && chunk.startsWith('\n') ? chunk.slice(1) : chunk;
    if (chunk !== '') endedInReturn = chunk.endsWith('\r');
    const [first = '', ...rest] = text.split(/\r\n|\n|\r/);
    pending.push(first);
    for (const next of rest) {
      yield pending.join('');
      pending = [next];
    }
  }
  const last = pending.join('');
  if (last !== '') yield last;
}
