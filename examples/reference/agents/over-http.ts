// Reference: "Complete example: remote HTTP agent". The service is a model API, which the gateway answers from its script.
import { defineAgent, fromResponses } from 'whetstone/adapter';

/** One question to an HTTP service per turn. */
export default defineAgent({
  name: 'over-http',
  capabilities: { toolObservability: true },
  async send(input, { lane, signal, model = 'gpt-5.2' }) {
    const answer = await fetch(`${lane?.baseUrl}/v1/responses`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${lane?.key}` },
      body: JSON.stringify({ model, input: input.text }),
      signal,
    });
    return fromResponses(answer);
  },
});
