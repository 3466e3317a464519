/** Ends the connection of a call with a reset instead of an answer. */
export class ConnectionFault extends Error {
  override readonly name = 'ConnectionFault';
}
