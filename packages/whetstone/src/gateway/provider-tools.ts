import type { GatewayConfig } from '../config/config.ts';

/** Whether the gateway leaves tools that run at the provider in the requests that it forwards. */
export function keepsProviderTools(gateway: GatewayConfig): boolean {
  if (gateway.mode === 'script' || (gateway.mode === 'replay' && gateway.miss !== 'fork')) return false;
  const { providerTools } = gateway;
  return Array.isArray(providerTools) ? providerTools.length > 0 : providerTools;
}
