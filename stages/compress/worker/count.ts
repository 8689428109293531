/** How many threads may compress. Apart, so that the command line need not load what they do. */

/** One for nearly all requests, and one for those that come while it is at work for long. */
export const DEFAULT_WORKERS = 2;
/** Each takes some 60 MB with its parsers. */
export const MAX_WORKERS = 16;
