type CamelCase<Name> = Name extends `${infer Head}_${infer Rest}`
  ? `${Head}${Capitalize<CamelCase<Rest>>}`
  : Name;

type IsRequired<Value> = Extract<Value, null | undefined> extends never ? true : false;

type CamelCased<Fields> = {
  [Key in keyof Fields as IsRequired<Fields[Key]> extends true ? CamelCase<Key> : never]: Fields[Key];
} & {
  [Key in keyof Fields as IsRequired<Fields[Key]> extends true ? never : CamelCase<Key>]?: NonNullable<
    Fields[Key]
  >;
};

/** Keys in camelCase, on this level only. Without those that have no value (`title:`), which YAML counts as absent. */
export function camelCased<Fields extends object>(fields: Fields): CamelCased<Fields> {
  const given = Object.entries(fields).filter(([, value]) => value !== null && value !== undefined);
  return Object.fromEntries(given.map(([name, value]) => [camelCase(name), value])) as CamelCased<Fields>;
}

const camelCase = (name: string): string =>
  name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
