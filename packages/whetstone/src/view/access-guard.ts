import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Who may read. Other users of the machine reach a loopback port too, and so does every web page in the user's browser;
 * so a request must come from our own page or the address bar, to a loopback name, and hold the secret.
 */
export type Guard = {
  /** Opens the page, as often as it is asked for. */
  readonly token: string;
  /** Opens the page once: for where others can see it, as in the arguments of a process. */
  createTicket(): string;
  /** What is wrong with a request whatever it asks for; `undefined` when nothing is. */
  refusal(request: IncomingMessage): Refusal | undefined;
  /** The cookie to set when this is a token or an unused ticket. */
  exchange(secret: string): string | undefined;
  hasCookie(request: IncomingMessage): boolean;
};

export type Refusal = { status: 403 | 405 | 421; message: string };

export function createGuard(port: number): Guard {
  const token = createSecret();
  const session = createSecret(); // not the token, so that a cookie that got out opens nothing after a restart
  const tickets = new Set<string>();
  const cookieName = `whetstone-view-${port}`; // cookies of one host are shared over its ports
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => new URL(`http://${name}:${port}`).host);

  return {
    token,

    createTicket() {
      const ticket = createSecret();
      tickets.add(ticket);
      return ticket;
    },

    refusal({ method = '', headers }) {
      const { host = '', origin } = headers;
      // A name that someone else's DNS points at loopback makes their page "the same origin" as this server.
      if (!hosts.includes(host.toLowerCase()))
        return { status: 421, message: 'This server answers to a loopback name only.' };
      if (method !== 'GET' && method !== 'HEAD')
        return { status: 405, message: 'This server only reads: GET and HEAD.' };
      const site = headers['sec-fetch-site'] ?? 'none';
      const isForeign =
        (origin !== undefined && origin !== `http://${host}`) || (site !== 'none' && site !== 'same-origin');
      return isForeign
        ? { status: 403, message: 'Another site asked for this. Put the address into the address bar.' }
        : undefined;
    },

    exchange(secret) {
      if (!isSame(secret, token) && !tickets.delete(secret)) return undefined;
      return `${cookieName}=${session}; HttpOnly; SameSite=Strict; Path=/`;
    },

    hasCookie({ headers }) {
      const cookies = (headers.cookie ?? '').split(';').map((cookie) => cookie.trim());
      return cookies.some(
        (cookie) =>
          cookie.startsWith(`${cookieName}=`) && isSame(cookie.slice(cookieName.length + 1), session),
      );
    },
  };
}

const createSecret = (): string => randomBytes(32).toString('base64url');

/** In a time that does not tell how much of it is right. */
const isSame = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
