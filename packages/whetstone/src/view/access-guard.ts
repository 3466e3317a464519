import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

/**
 * Decides which requests may read. Other users and every web page in the browser can reach a loopback port, so a
 * request must come from our page or the address bar, to a loopback name, and carry the secret.
 */
export type Guard = {
  /** Opens the page any number of times. */
  readonly token: string;
  /**
   * What a request that changes something carries besides the cookie. Browsers send a cookie to every port of a host, and
   * keep this in the storage of one port.
   */
  readonly actionKey: string;
  /** Opens the page only once. For places that others can see, such as the arguments of a process. */
  createTicket(): string;
  /** Why a request is refused, whatever it asks for; `undefined` when it is not. */
  refusal(request: Pick<IncomingMessage, 'method' | 'headers'>): Refusal | undefined;
  /** The cookie to set when the value is the token or an unused ticket. */
  exchange(secret: string): string | undefined;
  hasCookie(request: IncomingMessage): boolean;
};

export type Refusal = { status: 403 | 405 | 421; message: string };

export function createGuard(port: number): Guard {
  const token = createSecret();
  const actionKey = createSecret();
  const session = createSecret(); // not the token, so that a leaked cookie is worthless after a restart
  const tickets = new Set<string>();
  const cookieName = `whetstone-view-${port}`; // all ports of a host share its cookies
  const hosts = ['127.0.0.1', 'localhost', '[::1]'].map((name) => new URL(`http://${name}:${port}`).host);

  return {
    token,
    actionKey,

    createTicket() {
      const ticket = createSecret();
      tickets.add(ticket);
      return ticket;
    },

    refusal({ method = '', headers }) {
      const { host = '', origin } = headers;
      // A foreign DNS name that points to loopback would make a foreign page "the same origin" as this server.
      if (!hosts.includes(host.toLowerCase()))
        return { status: 421, message: 'This server answers to a loopback name only.' };
      if (method !== 'GET' && method !== 'HEAD' && method !== 'POST')
        return { status: 405, message: 'This server only knows GET, HEAD and POST.' };
      const site = headers['sec-fetch-site'] ?? 'none';
      const isForeign =
        (origin !== undefined && origin !== `http://${host}`) || (site !== 'none' && site !== 'same-origin');
      if (isForeign)
        return { status: 403, message: 'Another site asked for this. Put the address into the address bar.' };
      if (method !== 'POST') return undefined;
      // A page that changes something says where it is from, and has the key.
      const isOurs = origin !== undefined && isSame(String(headers['x-whetstone-key'] ?? ''), actionKey);
      return isOurs
        ? undefined
        : { status: 403, message: 'Open the address that "whetstone view" printed in this browser again.' };
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

/** Compares in constant time, so that timing does not show how much of it is right. */
const isSame = (given: string, secret: string): boolean => timingSafeEqual(digest(given), digest(secret));

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
