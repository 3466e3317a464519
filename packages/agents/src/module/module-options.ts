import { z } from 'zod';
import { name, text } from '../kit/option-values.ts';

/** What a configuration can say about an agent that a module exports. */
export const moduleOptions = z.object({ module: text.nullish(), model: name.nullish() });
