/** What every request begins with. A session builds it once and then leaves it as it is, so that prompt caches hold. */
export type Preamble = {
  systemPrompt: string;
  /** The system prompt in the blocks in which it is sent. Default: one block. */
  systemBlocks?: readonly string[];
  /** The first message on the user's side: working folder, platform, git, date. */
  environmentContext: string;
};
