import type { Answer, AnswerBody } from './answer.ts';
import type { WireProtocol } from './wire/neutral.ts';
import { meterResponse, type ResponseMeter } from './wire/response-meter.ts';
import { wires } from './wire/wires.ts';

/** A model's reply that is metered as it passes. An error stays as it is, and so does a reply that has its meter. */
export function meteredAnswer(answer: Answer, wire: WireProtocol): Answer {
  if (answer.meter || answer.status >= 400) return answer;
  const meter = meterResponse(wires[wire].meter(), String(answer.headers['content-type'] ?? ''));
  return { ...answer, meter, body: metered(answer.body, meter) };
}

async function* metered(body: AnswerBody, meter: ResponseMeter): AsyncGenerator<string | Uint8Array> {
  for await (const chunk of body) {
    meter.push(chunk);
    yield chunk;
  }
}
