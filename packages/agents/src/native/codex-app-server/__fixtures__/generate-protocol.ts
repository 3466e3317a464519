/**
 * Reduces the TypeScript that `codex app-server generate-ts --experimental` writes to what our code uses: some types with
 * all that they name, some with only a few of their fields, and the names of all methods.
 */
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

/** What is asked: only these fields, because the others name hundreds of types. */
const FIELDS: Readonly<Record<string, readonly string[]>> = {
  ThreadStartParams: [
    ...['model', 'serviceTier', 'cwd', 'approvalPolicy', 'sandbox', 'config'],
    ...['baseInstructions', 'developerInstructions', 'ephemeral'],
  ],
  ThreadResumeParams: ['threadId', 'excludeTurns', 'model', 'serviceTier', 'cwd', 'approvalPolicy', 'sandbox', 'config'],
  ThreadForkParams: ['threadId', 'excludeTurns', 'lastTurnId', 'model', 'cwd', 'approvalPolicy', 'sandbox', 'config'],
  TurnStartParams: [
    ...['threadId', 'input', 'cwd', 'approvalPolicy', 'sandboxPolicy', 'model'],
    ...['serviceTier', 'effort', 'summary', 'outputSchema', 'collaborationMode'],
  ],
  TurnSteerParams: ['threadId', 'input', 'expectedTurnId'],
  InitializeParams: ['clientInfo', 'capabilities'],
  InitializeCapabilities: ['experimentalApi'],
  CommandExecutionRequestApprovalParams: ['itemId', 'reason', 'command', 'cwd', 'networkApprovalContext'],
  ExecCommandApprovalParams: ['conversationId', 'callId', 'command', 'cwd', 'reason'],
  ApplyPatchApprovalParams: ['conversationId', 'callId', 'fileChanges', 'reason'],
};

/** What is asked or answered, with everything that it names. */
const WHOLE: readonly string[] = [
  ...['TurnInterruptParams', 'ReviewStartParams', 'ThreadUnsubscribeParams', 'ThreadArchiveParams'],
  ...['ThreadUnarchiveParams', 'CommandExecutionRequestApprovalResponse', 'FileChangeRequestApprovalParams'],
  ...['FileChangeRequestApprovalResponse', 'PermissionsRequestApprovalParams', 'PermissionsRequestApprovalResponse'],
  ...['ToolRequestUserInputParams', 'ToolRequestUserInputResponse', 'McpServerElicitationRequestResponse'],
  ...['DynamicToolCallParams', 'DynamicToolCallResponse', 'CurrentTimeReadResponse'],
  ...['ExecCommandApprovalResponse', 'ApplyPatchApprovalResponse', 'ThreadTokenUsage', 'TurnStatus'],
];

/** Unions of messages of which only the method counts, and of items of which only the type does. */
const NAMES: Readonly<Record<string, { of: string; field: string; only?: readonly string[] }>> = {
  ServerRequestMethod: { of: 'ServerRequest', field: 'method' },
  ServerNotificationMethod: { of: 'ServerNotification', field: 'method' },
  ClientRequestMethod: {
    of: 'ClientRequest',
    field: 'method',
    only: [
      ...['initialize', 'thread/start', 'thread/resume', 'thread/fork', 'thread/unsubscribe', 'thread/archive'],
      ...['thread/unarchive', 'turn/start', 'turn/steer', 'turn/interrupt', 'review/start'],
      ...['model/list', 'skills/list', 'plugin/list', 'plugin/read', 'app/list'],
    ],
  },
  ThreadItemType: { of: 'ThreadItem', field: 'type' },
};

/** The modules `protocol.ts` and `protocol-methods.ts`, from the folder that Codex wrote. */
export function generateProtocol(folder: string, version: string): { types: string; names: string } {
  const made = new Map<string, string>();
  const open = [...Object.keys(FIELDS), ...WHOLE];
  for (const name of open) {
    const whole = typeIn(folder, name);
    const text = FIELDS[name] ? onlyFields(whole, FIELDS[name]) : whole;
    made.set(name, `export type ${name} = ${text};`);
    const named = [...text.matchAll(/(?<!")\b[A-Z]\w+\b(?!")/g)].map(([reference]) => reference);
    open.push(...new Set(named.filter((other) => !open.includes(other) && fileOf(folder, other))));
  }
  const names = Object.entries(NAMES).map(([name, { of, field, only }]) => {
    const found = [...typeIn(folder, of).matchAll(new RegExp(`"${field}": "([^"]+)"`, 'g'))];
    const values = new Set(found.map(([, value = '']) => value));
    const gone = only?.filter((value) => !values.has(value)) ?? [];
    if (gone.length > 0) throw new Error(`Codex has no ${gone.join(', ')} any more.`);
    return `export type ${name} =\n${(only ?? [...values]).map((value) => `  | '${value}'`).join('\n')};`;
  });
  const head = `// Of codex-cli ${version}: written by the test protocol.agents.test.ts with -u. Do not edit it.\n`;
  const types = [...made.keys()].sort().map((name) => made.get(name));
  const module = (parts: readonly (string | undefined)[]) => `${head}\n${parts.join('\n\n')}\n`;
  return { types: module(types), names: module(names) };
}

/** Without what a formatter changes: white space, quotes, separators, and parentheses and bars around unions. */
export const comparable = (module: string): string => module.replace(/[\s"'`;,()|]/g, '');

const fileOf = (folder: string, name: string): string | undefined =>
  ['', 'v2', 'serde_json']
    .map((part) => join(folder, part, `${name}.ts`))
    .find((path) => existsSync(path));

/** The right side of a type. */
function typeIn(folder: string, name: string): string {
  const file = fileOf(folder, name);
  if (file === undefined) throw new Error(`Codex has no type ${name} any more.`);
  const text = readFileSync(file, 'utf8').replace(/\/\*[\s\S]*?\*\/|^\/\/.*$/gm, '');
  const [, type = ''] = /export type \w+ = ([\s\S]*);\s*$/.exec(text) ?? [];
  return type.replace(/\s+/g, ' ');
}

/** An object type with only these fields. */
function onlyFields(type: string, fields: readonly string[]): string {
  const members: string[] = [];
  let depth = 0;
  let member = '';
  for (const character of type.trim().slice(1, -1)) {
    if (character === ',' && depth === 0) {
      members.push(member.trim());
      member = '';
      continue;
    }
    if ('{[(<'.includes(character)) depth += 1;
    if ('}])>'.includes(character)) depth -= 1;
    member += character;
  }
  const kept = fields.map((field) => {
    const found = members.find((each) => each.startsWith(`${field}:`) || each.startsWith(`${field}?:`));
    if (found === undefined) throw new Error(`The field ${field} is gone.`);
    return found;
  });
  return `{ ${kept.join(', ')} }`;
}
