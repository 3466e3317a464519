import type { AuditEvent } from '../audit/audit-suite.ts';
import { counted } from '../report/format.ts';
import { oneLine } from '../report/sanitize.ts';
import { isInteractive } from './terminal-features.ts';

/** One line that changes on a terminal; elsewhere one line per task. */
export async function auditProgress(
  stream: NodeJS.WriteStream,
  { isQuiet }: { isQuiet: boolean },
): Promise<{ show(event: AuditEvent): void; stop(): void }> {
  if (isQuiet) return { show() {}, stop() {} };
  const update = isInteractive(stream) ? (await import('log-update')).createLogUpdate(stream) : undefined;
  let place = '';
  return {
    show(event) {
      if (event.type === 'task.started') {
        place = `[${event.index}/${event.of}] ${oneLine(event.task)}`;
        update?.(place);
      } else if (event.type === 'step') {
        update?.(`${place}  ${counted(event.steps, 'grading')}, last: ${oneLine(event.step, 60)}`);
      } else {
        const { integrity, findings, seconds } = event.audit;
        const score = integrity === null ? 'not judged' : `integrity ${integrity}`;
        update?.clear();
        stream.write(`${place}  ${score}, ${counted(findings.length, 'finding')}  ${seconds} s\n`);
      }
    },
    stop() {
      update?.clear();
      update?.done();
    },
  };
}
