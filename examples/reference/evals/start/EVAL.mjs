import { equal } from 'node:assert/strict';
import test from 'node:test';

test('the label', async () => equal((await import('./button.mjs')).label, 'Save'));
