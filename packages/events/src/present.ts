type Present<Fields extends object> = { [Name in keyof Fields]?: Exclude<Fields[Name], undefined> };

/** The fields that have a value, without those that are `undefined`; `null` is a value. */
export function present<Fields extends object>(fields: Fields): Present<Fields> {
  const found: Partial<Fields> = {};
  for (const name in fields) if (fields[name] !== undefined) found[name] = fields[name];
  return found as Present<Fields>;
}
