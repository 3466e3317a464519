// agents/support-bot.ts
import { defineAgent } from "whetstone/adapter";

export default defineAgent({
  name: "support-bot",
  capabilities: { conversation: true, toolObservability: true },
  async send(input, ctx) {
    const r = await fetch(`${process.env.SUPPORT_BOT_URL}/chat`, {
      method: "POST",
      body: JSON.stringify({ message: input.text }),
      signal: ctx.signal,
    });
    const body = await r.json();
    return {
      events: toStreamEvents(body),   // your mapping function
      data: body.output,
      status: "completed",
    };
  },
});

// What the example leaves to its reader.
import type { StreamEvent } from "whetstone/adapter";

function toStreamEvents(body: { reply: string; lookups: { id: string; topic: string; found: string }[] }): StreamEvent[] {
  return [
    ...body.lookups.flatMap(({ id, topic, found }): StreamEvent[] => [
      { type: "action.called", callId: id, name: "lookup", input: { topic } },
      { type: "action.result", callId: id, status: "completed", output: found },
    ]),
    { type: "message", role: "assistant", text: body.reply },
  ];
}
