// agents/claude-code.ts
import { defineSandboxAgent, shared } from "whetstone/adapter";
import { requireEnv } from "whetstone";

const auth = () => ({ ANTHROPIC_API_KEY: requireEnv("ANTHROPIC_API_KEY") });

export default defineSandboxAgent({
  name: "claude-code",
  async send(input, ctx) {
    const sb = ctx.sandbox!;

    // Install the CLI (privileged — npm global install)
    await sb.runCommand("npm", ["install", "-g", "@anthropic-ai/claude-code"], {
      root: true,
    });

    // Build the argument list
    const args = ["--print", "--dangerously-skip-permissions"];
    if (ctx.model) args.push("--model", ctx.model);
    if (ctx.flags.webResearch) args.push("--allowedTools", "WebSearch,WebFetch");
    if (!ctx.session.isNew && ctx.session.id) args.push("--resume", ctx.session.id);
    args.push(input.text);

    const res = await sb.runCommand("claude", args, { env: auth() });

    // Capture and parse the transcript
    const raw = await shared.captureLatestJsonl(sb, "~/.claude/projects");
    ctx.session.id = shared.sessionIdFromClaudeTranscript(raw);

    return {
      events: parseClaudeCode(raw),  // your transcript → StreamEvent[] parser
      status: res.exitCode === 0 ? "completed" : "failed",
    };
  },
});

// The function that the example leaves to its reader, only for messages.
import type { StreamEvent } from "whetstone/adapter";

function parseClaudeCode(raw: string): StreamEvent[] {
  const entries: { type: string; message: { content: { type: string; text: string }[] } }[] = raw
    .split("\n")
    .filter(Boolean)
    .map((line) => JSON.parse(line));
  return entries
    .filter(({ type }) => type === "assistant")
    .flatMap(({ message }) => message.content)
    .map(({ text }) => ({ type: "message", role: "assistant", text }));
}
