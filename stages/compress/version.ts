/**
 * The version of all compression algorithms: output depends on it, so a conversation is pinned to
 * it.
 */

/** Must change whenever an algorithm would produce other bytes for the same input. */
export const COMPRESSION_VERSION = 35;
