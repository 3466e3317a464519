/** What every request begins with. Built once a session and then frozen, so that prompt caches hold. */
export type Preamble = {
  systemPrompt: string;
  /** The same in the blocks in which it is sent, where it is not one. */
  systemBlocks?: readonly string[];
  environmentContext: string;
};
