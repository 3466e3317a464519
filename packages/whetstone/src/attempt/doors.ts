import type { LabGateway } from './lab.ts';

/** What a sealed sandbox reaches: the gateway, at the address that it has outside. */
export function doorsTo(gateway: Pick<LabGateway, 'server'> | undefined) {
  if (!gateway) return {};
  const { url, accept } = gateway.server;
  return { doors: new Map([[Number(new URL(url).port), accept]]) };
}
