/** The public surface of `@whetstone/gateway`: an HTTP server between any coding agent and its model provider. */
export { type AgentFamily, agentFamilies } from './agent-family.ts';
export { createGateway, type Gateway, type GatewayOptions } from './gateway.ts';
export { GatewayError, type GatewayErrorCode } from './gateway-error.ts';
export type { Lane, LaneOptions } from './lane.ts';
export type { LaneMode } from './lane-mode.ts';
export type { LedgerFlag, LedgerLine } from './ledger.ts';
export { loadScript } from './script/load.ts';
export {
  defineScript,
  type NeutralCall,
  type Script,
  type ScriptRequest,
  type ScriptStep,
  scriptFromSteps,
} from './script/script.ts';
export type { OfferedTool, WireProtocol } from './wire/neutral.ts';
