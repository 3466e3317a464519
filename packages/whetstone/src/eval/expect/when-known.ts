/** A value, or a promise of it. Matchers answer at once where they can: thousands of stored cases are checked in a row. */
export type MaybeLater<Value> = Value | Promise<Value>;

export function whenKnown<Value, Result>(
  value: MaybeLater<Value>,
  next: (value: Value) => MaybeLater<Result>,
): MaybeLater<Result> {
  return value instanceof Promise ? value.then(next) : next(value);
}

export function whenAllKnown<Value, Result>(
  values: readonly MaybeLater<Value>[],
  next: (values: readonly Value[]) => MaybeLater<Result>,
): MaybeLater<Result> {
  if (values.some((value) => value instanceof Promise)) return Promise.all(values).then(next);
  return next(values as readonly Value[]);
}
