import { defineScript } from '../script.ts';

export default defineScript({ name: 'hello', play: ({ step }) => ({ text: `Hello ${step}` }) });
