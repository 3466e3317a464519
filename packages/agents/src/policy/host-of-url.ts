import type { JsonValue } from '@whetstone/events';

/** The host name of a URL, without its port; `undefined` for anything else. */
export const hostOfUrl = (url: JsonValue | undefined): string | undefined =>
  typeof url === 'string' && URL.canParse(url) ? new URL(url).hostname : undefined;
