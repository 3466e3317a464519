import type { LoopContext, LoopOutcome } from './loop-context.ts';
import { checkOutput, repairRequest } from './structured-output.ts';

/**
 * Ends an input with the model's last answer, which has to fit the schema of the submit, if there is one. `repair`: it
 * does not fit, and the model was asked for another. That happens once per input; then the input ends with an error.
 */
export function checkAnswer(
  { outputSchema, history, emit }: LoopContext,
  progress: { text: string; repaired: boolean },
): Omit<LoopOutcome, 'text'> | 'repair' {
  if (!outputSchema) return { reason: 'completed' };
  const checked = checkOutput(progress.text, outputSchema);
  if (checked.ok) return { reason: 'completed', output: checked.output };
  const message = `The answer does not fit the schema: ${checked.reason}`;
  if (!progress.repaired) {
    progress.repaired = true;
    emit('WARNING', { code: 'output-invalid', message });
    const content = repairRequest(checked.reason, outputSchema);
    history.appendSteering(content);
    emit('STEERING_INJECTED', { content });
    return 'repair';
  }
  const error = { code: 'output-invalid', message } as const;
  emit('ERROR', error);
  return { reason: 'error', error };
}
