/** What an agent needs of its client. */
export type ClientOptions = {
  /** The mode in which the agent asks, by its own id. Default: the mode that it starts in. */
  mode?: string;
  /** Commands run in a sandbox of the agent, and its questions about them ask for more than that. Default: no. */
  asksToLeaveSandbox?: boolean;
  /** Servers of the protocol come too late for its first model call; those of its settings do not. Default: no. */
  hasServersInSettings?: boolean;
  /** It drops the images of a prompt that also links to files, so files are then only named. Default: no. */
  dropsImagesBesideLinks?: boolean;
  afterNew?: (sessionId: string) => void;
  beforeLoad?: (sessionId: string, signal: AbortSignal) => Promise<void>;
};
