import { runAddress } from '../app/address.js';
import { act, askProject } from '../app/server.js';
import { element } from '../parts/element.js';
import { badge, link, localTime, section } from '../parts/parts.js';

/** @import { Job } from '../../../whetstone/src/view/api.ts' */

const EVERY_MS = 1000;

/**
 * The runs that were started here, with what they print, as long as the panel is on the page. They end with the server.
 * @param {readonly Job[]} jobs
 */
export function jobsPanel(jobs) {
  const list = element('div', { class: 'jobs' });
  let shown = '';
  let isAsking = false;
  /** @param {readonly Job[]} now */
  const draw = (now) => {
    if (JSON.stringify(now) === shown) return;
    shown = JSON.stringify(now);
    list.replaceChildren(
      ...(now.length === 0
        ? [
            element(
              'p',
              { class: 'note' },
              'Nothing was started here yet. What you start ends with this page’s server.',
            ),
          ]
        : now.map((job) => drawJob(job, refresh))),
    );
  };
  const refresh = async () => {
    if (isAsking) return;
    isAsking = true;
    await askProject().then(
      (state) => draw(state.jobs),
      () => undefined,
    );
    isAsking = false;
  };
  const timer = setInterval(() => {
    if (list.isConnected) void refresh();
    else if (shown !== '') clearInterval(timer);
  }, EVERY_MS);
  list.addEventListener('refresh', refresh);
  draw(jobs);
  return section('Started here', list);
}

/**
 * @param {Job} job
 * @param {() => Promise<void>} refresh
 */
function drawJob(job, refresh) {
  const isRunning = job.state === 'running';
  const word = isRunning
    ? job.is_stopping
      ? 'stopping'
      : 'running'
    : `ended, exit code ${job.exit_code ?? 'unknown'}`;
  const output = element('pre', { class: 'log', tabindex: 0 }, job.output.join('\n'));
  queueMicrotask(() => {
    output.scrollTop = output.scrollHeight;
  });
  return element(
    'article',
    { class: 'job' },
    element(
      'header',
      { class: 'title' },
      badge(word, isRunning ? 'running' : job.exit_code === 0 ? 'passed' : 'stopped'),
      job.run === null ? element('span', { class: 'note' }, 'preparing') : link(runAddress(job.run), job.run),
      element('span', { class: 'note' }, 'started ', localTime(job.started_at)),
      isRunning && !job.is_stopping
        ? element(
            'button',
            {
              type: 'button',
              click: async ({ target }) => {
                target.disabled = true;
                await act({}, 'jobs', job.id, 'stop').catch(() => undefined);
                await refresh();
              },
            },
            'Stop',
          )
        : null,
    ),
    element('code', { class: 'note' }, `whetstone run ${job.arguments.join(' ')}`),
    job.output.length === 0 ? null : output,
  );
}
