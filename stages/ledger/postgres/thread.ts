/** The compiled module of the thread that writes; in the joined program all of them lie in one folder. */
export const postgresThread = new URL('./postgres-worker.js', import.meta.url);
