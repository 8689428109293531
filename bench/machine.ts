/** The machine that figures depend on. */
import { cpus, loadavg, release, totalmem, type } from 'node:os';

/** Returns processor, memory, system, Node and the load of the last minute, on one line. */
export function machine(): string {
  const model = cpus()[0]?.model.trim() ?? 'unknown processor';
  const memory = `${(totalmem() / 2 ** 30).toFixed(1)} GiB`;
  const load = loadavg()[0]?.toFixed(1);
  return `${cpus().length} × ${model}, ${memory}, ${type()} ${release()}, Node ${process.versions.node}, load ${load}`;
}
