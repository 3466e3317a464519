import { type Aim, type Benchmark, FLAT, flatAim, type Table } from '../benchmark.ts';
import { whereWeLose } from '../compare-with-peers.ts';
import { installRouter, routerPackage, routerVersion } from './claude-code-router.ts';
import { NOTHING_KEPT, PIPE } from './hops.ts';
import { measureManyCalls } from './many-calls.ts';
import { measureOneAtATime } from './one-at-a-time.ts';
import { measureStreams } from './streams.ts';
import { measureThroughput } from './throughput.ts';

const USUAL_BYTES = 100_000;
const LARGE_BYTES = 2_000_000;
/** Of a real model's first event, at the least. */
const PROVIDER_WAIT_MS = 200;

/** What the gateway adds to a model call, compared with a peer and with no proxy. */
export const gateway: Benchmark = async ({ size, say }) => {
  const full = size === 'full';
  const missing = installRouter(say);
  const router = missing === undefined;

  say('one call at a time, 100 KB');
  const usual = await measureOneAtATime({
    caption: 'One call at a time, 100 KB',
    bodyBytes: USUAL_BYTES,
    calls: full ? 100 : 15,
    rounds: full ? 10 : 1,
    router,
  });
  say('one call at a time, 2 MB');
  const large = await measureOneAtATime({
    caption: 'One call at a time, 2 MB',
    bodyBytes: LARGE_BYTES,
    calls: full ? 10 : 1,
    rounds: full ? 5 : 1,
    router,
  });
  say('throughput');
  const throughput = await measureThroughput({
    bodyBytes: USUAL_BYTES,
    calls: full ? 200 : 10,
    rounds: full ? 4 : 1,
    router,
  });
  const streamCount = 300;
  say(`${streamCount} streams at once`);
  const manyStreams = {
    bodyBytes: USUAL_BYTES,
    streams: streamCount,
    rounds: full ? 3 : 1,
    router,
  };
  const streams = await measureStreams({ ...manyStreams, waitMs: PROVIDER_WAIT_MS });
  const instant = await measureStreams({ ...manyStreams, waitMs: 0 });
  const callCount = full ? 10_000 : 200;
  say(`${callCount} calls`);
  const many = await measureManyCalls({ bodyBytes: USUAL_BYTES, calls: callCount });

  const milliseconds = { below: 1, unit: 'ms', digits: 2 };
  const aims: Aim[] = [
    { what: 'added to a call with 100 KB, median,', measured: usual.added, ...milliseconds },
    { what: 'first byte held, 100 KB, median,', measured: usual.firstByteHeld, ...milliseconds },
    {
      what: `streams that failed, ${streamCount} at once,`,
      measured: streams.failed,
      below: 1,
      unit: 'streams',
      digits: 0,
    },
    {
      what: `first byte against no proxy, ${streamCount} streams at once, a provider that takes ${PROVIDER_WAIT_MS} ms, median,`,
      measured: streams.firstByteTimes,
      below: 2,
      unit: '×',
      digits: 1,
    },
    flatAim(`resident after the last burst of ${streamCount} streams against the first,`, streams.resident),
    flatAim(`resident, ${callCount} scripted calls against a tenth of them,`, many.resident),
    flatAim(`live, ${callCount} scripted calls against a tenth of them,`, many.live),
  ];
  return {
    method:
      "A client calls a provider that answers at once with a stream of 25 events (Anthropic Messages), itself and through each proxy; client, provider and proxies are processes of their own on the same machine, their connections stay open. A request is a coding agent's: a system prompt, 20 tools, rounds of tool calls. A call through a proxy has one without a proxy right before or after it, and what is added is the difference of the two; the proxies take turns in rounds.",
    tables: [usual.table, large.table, throughput, streams.table, instant.table, many.table],
    aims,
    notes: [
      "`whetstone` is a lane that forwards: it checks the key, reads the request, takes out the provider's tools, masks the provider's key in the answer, meters it, writes a line of its ledger, and keeps both bodies with secrets masked. Its configuration is the one that it is shipped with, also its limit of calls at once.",
      `\`${PIPE}\` is the floor of this machine: it passes bytes on and looks at none. With ${streamCount} streams at once from a provider that answers at once, its first byte is ${instant.pipeFirstByteTimes.toFixed(1)} × as late as without a proxy, and that of \`whetstone\` ${instant.firstByteTimes.toFixed(1)} ×: ${streamCount} requests of 100 KB are then read one after the other before the first answer. No model answers at once; with one that takes ${PROVIDER_WAIT_MS} ms, the pipe's is ${streams.pipeFirstByteTimes.toFixed(1)} ×.`,
      'First byte held: how much later than without a proxy the client has the first event after the provider sent it. CPU is user and system time of the process of the proxy, in ticks of 10 ms over all calls. Memory is that of one process, after all its calls of the table.',
      'Streams start all at once, after 100 calls that are not counted, each with a request of 100 KB; an event is late by the time from its sending to its arrival. Client, provider and proxy share the cores of the machine.',
      `Most resident: the most of one look after every lane. Live is what is in use on V8's heap and in buffers when garbage is collected, in runs of their own; resident memory also has what V8 has not yet collected or given back, which on a machine with much memory is a lot. Flat is the aim; ${FLAT} × is what is allowed. A lane keeps the lines of its ledger, about 1.6 KB per call, until it is closed.`,
      router
        ? `claude-code-router (\`${routerPackage}\`) passes requests on untranslated here (\`transformer: Anthropic\`). It does more: it counts the tokens of every request, to choose a model by them, and that is most of its time. It does less: no ledger, budgets, rate limit, masking of keys or stripping of tools. Of 3.x, 3.1.1 could not be installed from npm (a dependency is missing there), so it is ${routerVersion}. Its 10,000 calls were left out for the time they take.`
        : `claude-code-router was not measured: ${missing}`,
      ...[usual.table, large.table, throughput, streams.table, instant.table]
        .map(proxiesOf)
        .flatMap(whereWeLose),
    ],
  };
};

/** Without the first row, which has the calls without a proxy, the floor, and ourselves without bodies. */
const proxiesOf = (table: Table): Table => ({
  ...table,
  rows: table.rows.slice(1).filter(({ subject }) => subject !== PIPE && subject !== NOTHING_KEPT),
});
