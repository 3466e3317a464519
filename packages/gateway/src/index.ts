/** The public surface of `@whetstone/gateway`: an HTTP server between any coding agent and its model provider. */
export { type AgentFamily, agentFamilies } from './agent-family.ts';
export type { Budget, Spent } from './budget.ts';
export type { PricedCall, PriceOf } from './call-price.ts';
export { canonicalRequest } from './cassette/canonical-request.ts';
export type { RecordOptions } from './cassette/record-source.ts';
export type { ReplayOptions } from './cassette/replay-source.ts';
export {
  describeExchange,
  type ReadableExchange,
  type ReadableMessage,
} from './exchanges/describe-exchange.ts';
export type { KeptExchange } from './exchanges/exchange-file.ts';
export { readExchange } from './exchanges/read-exchange.ts';
export type { Fault, FaultKind, FaultOccasion, FaultRule } from './faults/fault.ts';
export type { ForwardOptions } from './forward/forward-source.ts';
export { type KeySource, readKey } from './forward/provider-key.ts';
export { type Provider, type ProviderName, providers } from './forward/providers.ts';
export type { Upstream, Upstreams } from './forward/upstream.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { GatewayError } from './gateway-error.ts';
export { type Lane, type LaneOptions, type LaneRequest, laneEnvironment } from './lane.ts';
export type { LedgerFlag, LedgerLine } from './ledger.ts';
export type { LaneMode } from './open-source.ts';
export type { RateOptions } from './rate/concurrency-limit.ts';
export { loadScript } from './script/load.ts';
export {
  defineScript,
  type NativeCall,
  type NeutralCall,
  type Script,
  type ScriptCall,
  type ScriptRequest,
  type ScriptStep,
  scriptFromSteps,
} from './script/script.ts';
export { type OfferedTool, type RequestPrompt, type WireProtocol, wireProtocols } from './wire/neutral.ts';
export { readRequestPrompt } from './wire/wires.ts';
