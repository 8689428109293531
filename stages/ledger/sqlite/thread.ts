/**
 * The compiled module of the writer thread; in the bundled program all of them are in one folder.
 */
export const sqliteThread = new URL('./writer-worker.js', import.meta.url);
