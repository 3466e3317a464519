/** @import { Child } from './element.js' */

/**
 * What `view.js` shows at an address.
 * @template Data
 * @typedef {object} Page
 * @property {() => Promise<Data>} load Returns the same object while nothing has changed.
 * @property {() => string} title
 * @property {(data: Data) => boolean} isLive Whether the data can still change. Then it is loaded again every two seconds.
 * @property {(data: Data) => Child} draw
 */

export {};
