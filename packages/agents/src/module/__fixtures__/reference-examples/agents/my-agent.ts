// agents/my-agent.ts
import { defineAgent } from "whetstone/adapter";
import { classifyIntent } from "../src/agent.js";

export default defineAgent({
  name: "classify",
  capabilities: {},
  async send(input, ctx) {
    const result = await classifyIntent(input.text);
    return {
      events: [
        { type: "message", role: "assistant", text: JSON.stringify(result) },
      ],
      data: result,
      status: "completed",
    };
  },
});
