/**
 * Limits on compression threads. Separate, so that the command line need not load the threads'
 * code.
 */

/** One for nearly all requests, and one for requests that arrive during a long job. */
export const DEFAULT_WORKERS = 2;
/** Each thread takes some 60 MB with its parsers. */
export const MAX_WORKERS = 16;
