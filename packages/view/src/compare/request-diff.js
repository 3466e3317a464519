import { askCallBodies, isFile } from '../app/server.js';
import { element } from '../parts/element.js';
import { asText, jsonLines } from '../parts/json-lines.js';
import { fold } from '../parts/parts.js';
import { lineDiff } from './line-diff.js';
import { withoutWorkspace } from './steps.js';

/** @import { CaseName } from '../app/address.js' */
/** @import { CallBodies, CaseFile } from '../../../whetstone/src/view/api.ts' */
/** @typedef {NonNullable<CallBodies['request']>} Request */

/**
 * The first request of a case that offers tools, without what differs in every session; others are about a title or a route.
 * `null`: none was kept.
 * @param {CaseName} name
 * @param {ReadonlyMap<string, CaseFile>} files
 * @returns {Promise<Request | null>}
 */
export async function firstRequest(name, files) {
  const ledger = files.get('model-calls');
  if (ledger === undefined || isFile) return null;
  const calls = jsonLines(ledger).values.filter(({ flags }) => !asList(flags).includes('auxiliary'));
  const first = calls.find((call) => asList(call.tools_offered).length > 0) ?? calls[0];
  if (first === undefined) return null;
  const family = asText(first.agent_family) || 'unknown';
  const bodies = await askCallBodies(name.run, name.case, asText(first.id), family).catch(() => null);
  return bodies?.request ?? null;
}

/** @param {unknown} value @returns {unknown[]} */
const asList = (value) => (Array.isArray(value) ? value : []);

/**
 * What two agents were given that differs: system prompt, tools, messages.
 * @param {Request | null} a
 * @param {Request | null} b
 * @param {typeof Diff} library
 */
export function requestDiff(a, b, library) {
  if (a === null || b === null) {
    const which =
      a === null && b === null ? 'Neither side has' : a === null ? 'A does not have' : 'B does not have';
    return element('p', { class: 'note' }, `${which} the first model request of its agent.`);
  }
  const parts = [
    { title: 'Model', key: 'request model', a: a.model, b: b.model },
    { title: 'System prompt', key: 'request system', a: a.system.join('\n\n'), b: b.system.join('\n\n') },
    { title: 'Messages', key: 'request messages', a: messagesText(a), b: messagesText(b) },
  ].map((part) => ({ ...part, a: withoutWorkspace(part.a), b: withoutWorkspace(part.b) }));
  const different = parts.filter((part) => part.a !== part.b);
  const tools = toolDiff(a, b, library);
  const same = [
    ...parts.filter((part) => part.a === part.b && part.a !== '').map(({ title }) => title.toLowerCase()),
    ...(tools === null && a.tools.length > 0 ? ['tools'] : []),
  ];
  return [
    element(
      'p',
      { class: 'note' },
      same.length === 0 ? null : `The same on both sides: ${same.join(', ')}. `,
      'Dates, ids and folders that differ in every session are left out.',
    ),
    different.map(({ title, key, ...texts }) => [
      element('h3', {}, title),
      lineDiff(key, texts.a, texts.b, library),
    ]),
    tools === null ? null : [element('h3', {}, 'Tools'), tools],
  ];
}

/** @param {Request} request */
const messagesText = ({ messages }) =>
  messages
    .flatMap(({ role, parts }) =>
      parts.map(({ kind, name, text }) => `— ${[role, kind, name].filter(Boolean).join(' ')}\n${text}`),
    )
    .join('\n');

/**
 * @param {Request} a
 * @param {Request} b
 * @param {typeof Diff} library
 */
function toolDiff(a, b, library) {
  const [ofA, ofB] = [a, b].map(
    ({ tools }) => new Map(tools.map(({ name, definition }) => [name, withoutWorkspace(definition)])),
  );
  if (ofA === undefined || ofB === undefined) return null;
  const names = [...new Set([...ofA.keys(), ...ofB.keys()])].filter(
    (name) => ofA.get(name) !== ofB.get(name),
  );
  if (names.length === 0) return null;
  return names.map((name) => {
    const how = !ofA.has(name) ? 'only B' : !ofB.has(name) ? 'only A' : 'differs';
    return fold(
      `request tool ${name}`,
      `${name}: ${how}`,
      false,
      lineDiff(`request tool ${name}`, ofA.get(name) ?? '', ofB.get(name) ?? '', library),
    );
  });
}
