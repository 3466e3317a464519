/**
 * `node:http` and `node:https`. An import of them would read each of their exports, and with `WebSocket` load all of
 * undici: 30 ms of CPU that a process of the command line does not need.
 */
export const http = process.getBuiltinModule('node:http');
export const https = process.getBuiltinModule('node:https');
