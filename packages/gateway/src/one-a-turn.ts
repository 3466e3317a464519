const waiting: (() => void)[] = [];
let isTaken = false;

/**
 * Work of which only one piece is done in each turn of the event loop, first come, first served. When many requests arrive
 * at once, the answers to the first ones are passed on before the last ones are read. Resolves when it may be done.
 */
export function oneATurn(): Promise<void> | undefined {
  if (isTaken) return new Promise((resolve) => waiting.push(resolve));
  isTaken = true;
  setImmediate(passOn);
  return undefined;
}

function passOn(): void {
  const next = waiting.shift();
  isTaken = next !== undefined;
  if (!next) return;
  setImmediate(passOn);
  next();
}
