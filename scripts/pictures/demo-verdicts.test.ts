import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { requireBothVerdicts } from './demo-verdicts.ts';

test('the picture of the demo shows a conclusive result beside an inconclusive one', () => {
  const picture = readFileSync(join(import.meta.dirname, '../../docs/pictures/terminal.svg'), 'utf8');
  const printed = picture.replaceAll(/<[^>]*>/g, ' ');
  requireBothVerdicts(printed);
  for (const verdict of ['better', 'inconclusive'])
    expect(() => requireBothVerdicts(printed.replaceAll(verdict, 'worse'))).toThrow(verdict);
});
