/** The version of all algorithms together: one argument of what goes out, so a conversation is pinned to it. */

/** Changes whenever an algorithm would give other bytes for the same input. */
export const COMPRESSION_VERSION = 35;
