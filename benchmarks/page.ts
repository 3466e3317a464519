import { join } from 'node:path';
import { type Browser, chromiumPath, openBrowser } from '../packages/view/src/__fixtures__/browser.ts';
import { runHash } from '../packages/view/src/page-checks/opened-page.ts';
import { writeLargeRun } from '../packages/whetstone/src/view/__fixtures__/run-directories.ts';
import { serveRuns } from '../packages/whetstone/src/view/server.ts';
import { type Benchmark, median, quantile, tableOf } from './benchmark.ts';
import { temporaryFolder } from './temporary-folder.ts';

const RUN = '2026-01-02T03-04-05-large';
const TRIALS = 3;
const ARMS = 2;
/** In pixels per frame: a reader who turns the wheel as fast as it goes. */
const SCROLL_STEP = 160;
/** A frame that took longer than one and a half of 60 Hz came late. */
const LATE_MS = 25;

/** How long the page takes to show a run of many cases, and how it scrolls, in a real browser. */
export const page: Benchmark = async ({ size, say }) => {
  if (chromiumPath === undefined) throw new Error('Chromium is not installed: npm run setup:system');
  const rounds = size === 'full' ? 10 : 2;
  const frames = size === 'full' ? 600 : 60;
  const counts = size === 'full' ? [600, 10_002] : [10_002];
  using folder = temporaryFolder();
  await using browser = await openBrowser(chromiumPath);
  await browser.resize(1400, 900);
  const measured: Measured[] = [];
  for (const cases of counts) {
    say(`${cases} cases`);
    const directory = join(folder.path, String(cases));
    const tasks = Array.from({ length: cases / TRIALS / ARMS }, (_, index) => `task-${index}`);
    await writeLargeRun(directory, RUN, { tasks, trials: TRIALS });
    measured.push({ cases, ...(await measure(browser, directory, { rounds, frames })) });
  }
  const most = measured.at(-1);
  if (!most) throw new Error('nothing was measured');
  return {
    method: `A run of one agent, ${ARMS} variants and ${TRIALS} trials per task, in headless Chromium with a window of 1400 × 900. Opened: from the start of the navigation to the frame after the one in which the rows of the matrix were drawn, as whetstone view RUN opens it, with a server that has read nothing (first) and with one that has the run (again); medians of ${rounds}. Scrolled: the times between ${frames} frames while the matrix scrolls by ${SCROLL_STEP} pixels per frame.`,
    tables: [
      tableOf(
        'Opening a run, and choosing tasks',
        measured.map((one) => ({ subject: `${one.cases.toLocaleString('en-US')} cases`, ...one })),
        [
          ['first', 'ms', 0, ({ first }) => median(first)],
          ['slowest first', 'ms', 0, ({ first }) => Math.max(...first)],
          ['again', 'ms', 0, ({ again }) => median(again)],
          ['answer of the server', 'MB', 2, ({ megabytes }) => megabytes],
          ['a letter of a search', 'ms', 0, ({ search }) => median(search)],
          ['elements', '', 0, ({ elements }) => elements],
        ],
      ),
      tableOf(
        'Scrolling the matrix',
        measured.map((one) => ({ subject: `${one.cases.toLocaleString('en-US')} cases`, ...one })),
        [
          ['frame, p50', 'ms', 1, ({ scroll }) => quantile(scroll, 0.5)],
          ['frame, p95', 'ms', 1, ({ scroll }) => quantile(scroll, 0.95)],
          ['frame, slowest', 'ms', 1, ({ scroll }) => Math.max(...scroll)],
          [`frames over ${LATE_MS} ms`, '%', 1, ({ scroll }) => 100 * lateShare(scroll)],
          ['work per frame, p95', 'ms', 1, ({ work }) => quantile(work, 0.95)],
        ],
      ),
    ],
    aims: [
      {
        what: `first opening of ${most.cases.toLocaleString('en-US')} cases, median,`,
        ...{ measured: median(most.first), below: 1000, unit: 'ms', digits: 0 },
      },
      {
        what: 'frame while scrolling, p95,',
        ...{ measured: quantile(most.scroll, 0.95), below: 1000 / 50, unit: 'ms', digits: 1 },
      },
      {
        what: `frames over ${LATE_MS} ms`,
        ...{ measured: 100 * lateShare(most.scroll), below: 1, unit: '%', digits: 1 },
      },
    ],
    notes: [
      'Without a screen, Chromium draws frames at 60 Hz in software, so a frame takes 16.7 ms at the least, with a spread of some milliseconds by its timer. Work per frame is what the page does in one: drawing rows and laying them out.',
      'A search is measured from a letter to the end of the layout that it causes. The time to start `whetstone view` is in `cold-start`.',
    ],
  };
};

type Measured = {
  cases: number;
  /** Milliseconds. */
  first: number[];
  again: number[];
  search: number[];
  scroll: number[];
  work: number[];
  megabytes: number;
  elements: number;
};

async function measure(
  browser: Browser,
  outputDirectory: string,
  { rounds, frames }: { rounds: number; frames: number },
): Promise<Omit<Measured, 'cases'>> {
  const first: number[] = [];
  const again: number[] = [];
  for (let round = 0; round < rounds; round++) {
    await using server = await serveRuns({ outputDirectory });
    first.push(await opened(browser, server.url));
    again.push(await opened(browser, server.url));
  }
  await using server = await serveRuns({ outputDirectory });
  await opened(browser, server.url);
  const megabytes = await browser.evaluate<number>(
    `fetch('/api/runs/${RUN}').then((answer) => answer.arrayBuffer()).then(({ byteLength }) => byteLength / 1e6)`,
  );
  const elements = await browser.evaluate<number>("document.querySelectorAll('*').length");
  const { scroll, work } = await browser.evaluate<Pick<Measured, 'scroll' | 'work'>>(scrolling(frames));
  const search = await browser.evaluate<number[]>(SEARCHING);
  return { first, again, search, scroll, work, megabytes, elements };
}

/** Milliseconds from the start of the navigation until the matrix is on the screen. */
async function opened(browser: Browser, url: string): Promise<number> {
  await browser.goto(`${url}${runHash(RUN)}`);
  await browser.until("performance.getEntriesByName('drawn').length > 0");
  return browser.evaluate<number>(
    "document.querySelector('.heat-row[data-row]') ? performance.getEntriesByName('drawn')[0].startTime : NaN",
  );
}

/** Scrolls down the matrix, and at its end up again. `work`: from the beginning of a frame to the end of its layout. */
const scrolling = (frames: number): string => `new Promise((resolve) => {
  const heat = document.querySelector('.heat');
  heat.scrollIntoView();
  const [scroll, work] = [[], []];
  let [last, step] = [undefined, ${SCROLL_STEP}];
  const frame = (now) => {
    if (last !== undefined) scroll.push(now - last);
    last = now;
    if (scroll.length >= ${frames}) return resolve({ scroll: scroll.slice(5), work });
    if (heat.scrollTop + heat.clientHeight >= heat.scrollHeight - 1) step = -${SCROLL_STEP};
    if (heat.scrollTop <= 0) step = ${SCROLL_STEP};
    heat.scrollTop += step;
    const began = performance.now();
    requestAnimationFrame(frame);
    const channel = new MessageChannel();
    channel.port1.onmessage = () => work.push(performance.now() - began);
    channel.port2.postMessage(0); // after the frame
  };
  requestAnimationFrame(frame);
})`;

const SEARCHING = `(async () => {
  const input = document.querySelector('input[name=q]');
  const times = [];
  for (const text of ['1', '12', '123', '12', '1', '', 'e', 'ex', 'exp', '']) {
    const began = performance.now();
    input.value = text;
    input.dispatchEvent(new Event('input'));
    document.querySelector('.heat').getBoundingClientRect();
    times.push(performance.now() - began);
    await new Promise(requestAnimationFrame);
  }
  return times;
})()`;

const lateShare = (frames: readonly number[]): number =>
  frames.filter((time) => time > LATE_MS).length / frames.length;
