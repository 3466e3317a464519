/** The bridge prints the messages of the program behind the SDK as they are; its own lines are none of these. */
export { stream } from '../../claude-code/__fixtures__/independent-reading.ts';
