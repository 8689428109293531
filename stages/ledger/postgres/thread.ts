/**
 * The compiled module of the writer thread; in the bundled program all of them are in one folder.
 */
export const postgresThread = new URL('./postgres-worker.js', import.meta.url);
