/** The steps of the isolation ladder; `auto` is at least the one that it stands for. */
const LEVELS: Readonly<Record<string, number>> = { process: 0, docker: 2 };

export const levelOf = ({ provider }: { provider: string }): number => LEVELS[provider] ?? 1;

/**
 * Whether another process of the machine, an engine, starts the commands. It sees no mounts of this process, and enforces
 * limits itself.
 */
export const usesEngine = ({ provider }: { provider: string }): boolean => provider === 'docker';
