import { visibleText } from './visible-text.js';

/** @typedef {Node | string | number | null | readonly Child[]} Child */
/** @typedef {Record<string, string | number | boolean | null | ((event: any) => void)>} Attributes */

/**
 * The only way in which this page makes elements: a string always becomes text, never markup.
 * @param {string} tag
 * @param {Attributes} [attributes] `true` sets an attribute without a value; `false` and `null` leave it out; a function
 * listens to the event of that name.
 * @param {...Child} children `null` is left out.
 * @returns {HTMLElement}
 */
export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  fill(made, attributes, children);
  return made;
}

/**
 * @param {string} tag
 * @param {Attributes} [attributes]
 * @param {...Child} children
 * @returns {SVGElement}
 */
export function svgElement(tag, attributes = {}, ...children) {
  const made = document.createElementNS('http://www.w3.org/2000/svg', tag);
  fill(made, attributes, children);
  return made;
}

/**
 * @param {Element} made
 * @param {Attributes} attributes
 * @param {readonly Child[]} children
 */
function fill(made, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (value === null || value === false) continue;
    if (typeof value === 'function') made.addEventListener(name, value);
    else made.setAttribute(name, value === true ? '' : visibleText(String(value)));
  }
  made.append(...nodes(children));
}

/**
 * @param {readonly Child[]} children
 * @returns {Node[]}
 */
export function nodes(children) {
  return children.flatMap((child) => {
    if (child === null) return [];
    if (child instanceof Node) return [child];
    if (typeof child === 'object') return nodes(child);
    return [document.createTextNode(visibleText(String(child)))];
  });
}
