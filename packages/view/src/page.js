/** @import { Child } from './element.js' */

/**
 * What `view.js` shows at an address.
 * @template Data
 * @typedef {object} Page
 * @property {() => Promise<Data>} load Returns the same object while nothing has changed.
 * @property {() => string} title
 * @property {(data: Data) => boolean} isLive Whether the data can still change: then it is loaded again and again.
 * @property {(data: Data) => Child} draw
 */

export {};
