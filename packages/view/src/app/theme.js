const NEXT = { auto: 'light', light: 'dark', dark: 'auto' };
const WORDS = { auto: 'Colours of the system', light: 'Light colours', dark: 'Dark colours' };

/** @typedef {keyof typeof NEXT} Theme */

/**
 * Makes a button change the colours: those of the system, light, dark. The browser keeps the choice.
 * @param {HTMLElement} button
 */
export function chooseTheme(button) {
  /** @param {Theme} theme */
  const apply = (theme) => {
    document.documentElement.dataset.theme = theme;
    button.setAttribute('aria-label', `${WORDS[theme]}; change`);
    button.title = WORDS[theme];
  };
  apply(kept());
  button.addEventListener('click', () => {
    const theme = /** @type {Theme} */ (NEXT[kept()]);
    keep(theme);
    apply(theme);
  });
}

/** A page from a file may have no storage. @type {Theme} */
let choice = 'auto';

/** @returns {Theme} */
function kept() {
  try {
    const theme = localStorage.getItem('theme') ?? choice;
    return theme === 'light' || theme === 'dark' ? theme : 'auto';
  } catch {
    return choice;
  }
}

/** @param {Theme} theme */
function keep(theme) {
  choice = theme;
  try {
    localStorage.setItem('theme', theme);
  } catch {
    // the choice lasts as long as the page
  }
}
