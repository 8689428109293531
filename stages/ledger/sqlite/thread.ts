/** The compiled module of the thread that writes; in the joined program all of them lie in one folder. */
export const sqliteThread = new URL('./writer-worker.js', import.meta.url);
