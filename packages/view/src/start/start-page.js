import { act, askProject } from '../app/server.js';
import { element } from '../parts/element.js';
import { link, section } from '../parts/parts.js';
import { findings } from './diagnostics.js';
import { configEditor } from './editor.js';
import { jobsPanel } from './jobs-panel.js';
import { preflight, preview } from './previews.js';
import { selectionForm } from './selection-form.js';

/** @import { Page } from '../app/page.js' */
/** @import { Check } from './check.js' */
/** @import { ConfigText, ProjectState } from '../../../whetstone/src/view/api.ts' */

/** A pause in typing after which the text is checked. */
const PAUSE_MS = 500;

/**
 * The local app: the configuration with what is wrong in it, the commands that would run, and runs that are started and
 * stopped here.
 * @returns {Page<ProjectState>}
 */
export function startPage() {
  return {
    load: askProject,
    title: () => 'Start a run',
    path: () => [link('#/', 'Runs'), element('span', { 'aria-current': 'page' }, 'Start a run')],
    isLive: () => false, // an editor must not change below the hands of its user; the jobs update themselves
    draw: ({ config, jobs }) => [
      element('h1', {}, 'Start a run'),
      config === null
        ? element(
            'p',
            { class: 'problem' },
            'There is no configuration here. Write one with ',
            element('code', {}, 'whetstone init'),
            ', then start ',
            element('code', {}, 'whetstone view'),
            ' again.',
          )
        : workbench(config),
      jobsPanel(jobs),
    ],
  };
}

/** @param {ConfigText} opened */
function workbench(opened) {
  let saved = opened;
  let checks = 0;
  const status = element('p', { class: 'note', role: 'status' });
  const found = element('div', { class: 'findings' });
  const result = element('div', { class: 'preview' });
  const form = selectionForm();
  /** @param {unknown} error */
  const say = (error) => {
    status.textContent = error instanceof Error ? error.message : String(error);
  };

  const check = async () => {
    const mine = ++checks;
    if (found.childElementCount === 0) found.replaceChildren(element('p', { class: 'note' }, 'Checking …'));
    try {
      /** @type {Check} */
      const answer = await act({ text: editor.text() }, 'config', 'check');
      if (mine !== checks) return; // the text has changed since
      editor.mark(answer.diagnostics.filter(({ file }) => file === opened.path));
      found.replaceChildren(findings(answer.diagnostics, opened.path, editor.goTo));
      form.offer(answer);
      start.disabled = !answer.valid;
      start.title = answer.valid ? '' : 'A run can start when no error is left above.';
    } catch (error) {
      if (mine !== checks) return;
      found.replaceChildren();
      say(error);
    }
  };
  /** @type {ReturnType<typeof setTimeout> | undefined} */
  let pause;
  const editor = configEditor(opened, () => {
    clearTimeout(pause);
    pause = setTimeout(check, PAUSE_MS);
    save.disabled = editor.text() === saved.text;
    result.replaceChildren(); // it was about another text
  });

  /** @param {string} text @param {() => Promise<void>} work */
  const button = (text, work, kind = 'button') => {
    const made = /** @type {HTMLButtonElement} */ (element('button', { type: 'button', class: kind }, text));
    made.addEventListener('click', async () => {
      say(`${text} …`);
      made.disabled = true;
      try {
        await work();
        say('');
      } catch (error) {
        say(error);
      } finally {
        made.disabled = false;
        save.disabled = editor.text() === saved.text;
      }
    });
    return made;
  };
  const write = async () => {
    saved = await act({ text: editor.text(), revision: saved.revision }, 'config', 'save');
  };
  const save = button('Save', write);
  const start = button(
    'Start run',
    async () => {
      if (editor.text() !== saved.text) await write(); // a run reads the file
      await act(form.selection(), 'jobs', 'start');
      document.querySelector('.jobs')?.dispatchEvent(new Event('refresh'));
    },
    'button primary',
  );
  const show = button('Show commands', async () => {
    const answer = await act({ text: editor.text(), selection: form.selection() }, 'config', 'preview');
    result.replaceChildren(preview(answer));
  });
  const fly = button('Preflight', async () => {
    const answer = await act({ text: editor.text() }, 'config', 'preflight');
    result.replaceChildren(preflight(answer, opened.path, editor.goTo));
  });
  save.disabled = true;
  start.disabled = true;
  start.title = 'A run can start when the configuration has been checked.';
  void check();
  return [
    section(opened.path, editor.node, found),
    section(
      'What runs',
      form.node,
      element('p', { class: 'actions' }, start, save, show, fly),
      status,
      result,
    ),
  ];
}
