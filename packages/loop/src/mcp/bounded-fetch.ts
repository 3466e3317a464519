const LONGEST_RESPONSE_BYTES = 64 * 1024 * 1024;

/** `fetch` whose responses end with an error where they go on for too long: a server must not fill the memory. */
export async function boundedFetch(url: string | URL, init?: RequestInit): Promise<Response> {
  const response = await fetch(url, init);
  if (!response.body) return response;
  let bytes = 0;
  const counter = new TransformStream<Uint8Array, Uint8Array>({
    transform(chunk, controller) {
      bytes += chunk.length;
      if (bytes > LONGEST_RESPONSE_BYTES)
        throw new Error(`it answered with more than ${LONGEST_RESPONSE_BYTES} bytes`);
      controller.enqueue(chunk);
    },
  });
  const { status, statusText, headers } = response;
  return new Response(response.body.pipeThrough(counter), { status, statusText, headers });
}
