// An agent behind HTTP: a backend that speaks OpenAI Chat Completions. In a run with a gateway, the lane is the backend.
import { defineAgent, fromChatCompletions, requireEnv } from 'whetstone/adapter';

export default defineAgent({
  name: 'http-agent',
  capabilities: { toolObservability: true },
  async send(input, ctx) {
    const [baseUrl, key] = ctx.lane
      ? [`${ctx.lane.baseUrl}/v1`, ctx.lane.key]
      : [requireEnv('AGENT_BASE_URL'), requireEnv('AGENT_API_KEY')];
    const answer = await fetch(`${baseUrl}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', authorization: `Bearer ${key}` },
      body: JSON.stringify({
        model: ctx.model ?? 'gpt-5.5',
        stream: true,
        stream_options: { include_usage: true },
        messages: [{ role: 'user', content: input.text }],
      }),
      signal: ctx.signal,
    });
    return fromChatCompletions(answer);
  },
});
