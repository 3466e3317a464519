import type { Form, ShellPlan } from './shell-walk.ts';

/** Writes a planned shell script out with its values. */
export function renderShell({ parts }: ShellPlan, lookUp: (name: string) => string): string {
  const referenced = new Set<string>();
  const body = parts.map((part) => {
    if (part.kind === 'text') return part.text;
    if (part.form.startsWith('reference')) referenced.add(part.name);
    return write(part.form, part.name, lookUp);
  });
  const assignments = [...referenced].map((name) => `${shellName(name)}=${quote(lookUp(name))}\n`);
  return [...assignments, ...body].join('');
}

function write(form: Form, name: string, lookUp: (name: string) => string): string {
  switch (form) {
    case 'word':
      return quote(lookUp(name));
    case 'double':
      return `"${quote(lookUp(name))}"`;
    case 'single':
      return escapeSingle(lookUp(name));
    case 'reference-word':
      return `"\${${shellName(name)}}"`;
    case 'reference-double':
      return `\${${shellName(name)}}`;
    case 'reference-single':
      return `'"\${${shellName(name)}}"'`;
    case 'comment':
      // A newline in the value would end the comment, and the rest would run.
      return '';
  }
}

function shellName(name: string): string {
  return `whetstone_${name}`;
}

function quote(value: string): string {
  return `'${escapeSingle(value)}'`;
}

function escapeSingle(value: string): string {
  return value.replaceAll("'", "'\\''");
}
