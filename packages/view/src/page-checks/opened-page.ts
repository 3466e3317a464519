import type { Browser } from '../__fixtures__/browser.ts';

/** The page in a browser, with what its checks share: Chromium starts once for all of them. */
export type OpenedPage = {
  browser: Browser;
  /** Where its runs are. */
  folder: string;
  sampleId: string;
  /** Opens the page by its hash and waits until it is drawn. */
  open(hash: string, url?: string): Promise<void>;
  count(selector: string): Promise<number>;
  /** What a reader sees of the first element; default: of the whole page. */
  text(selector?: string): Promise<string>;
  click(selector: string): Promise<unknown>;
};

export const runHash = (id: string): string => `#/runs/${encodeURIComponent(id)}`;

export const caseHash = (id: string, caseId: string): string => `${runHash(id)}/cases/${caseId}`;

export const pairHash = (id: string, a: string, b: string): string =>
  `#/side-by-side/${[id, a, id, b].map(encodeURIComponent).join('/')}`;
