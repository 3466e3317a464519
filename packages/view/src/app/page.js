/** @import { Child } from '../parts/element.js' */

/**
 * The keys of a page, by `KeyboardEvent.key`.
 * @typedef {Map<string, { does: string, press(): void }>} Keys
 */

/**
 * What `view.js` shows at an address.
 * @template Data
 * @typedef {object} Page
 * @property {() => Promise<Data>} load Returns the same object while nothing has changed.
 * @property {() => string} title
 * @property {() => Child} path The links above the page.
 * @property {(data: Data) => boolean} isLive Whether the data can still change. Then it is loaded again after each change.
 * @property {boolean} [followsActivity] Whether it is also loaded again when a running case of its run does something.
 * @property {string} [run] The run that the page is about; without it, any run.
 * @property {(data: Data, keys: Keys) => Child} draw Also sets the keys of the page.
 */

export {};
