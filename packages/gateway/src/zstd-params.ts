import { constants } from 'node:zlib';

/** A window of 8 MiB, the most that RFC 9659 allows for HTTP. By default a body could ask for 128. */
export const zstdParams = { [constants.ZSTD_d_windowLogMax]: 23 };
