/**
 * The thread that writes captures, so that searching for secrets and writing to disk block no
 * stream.
 */
import { reasonOf } from '../disk-reason.ts';
import { serveJobs } from '../threads/serve.ts';
import { openAppender } from './append.ts';
import { unpackJob } from './parcel.ts';
import type { Parcel } from './parcel.ts';
import type { CaptureProtocol } from './writer.ts';

serveJobs<CaptureProtocol, string>((folder) => {
  const appender = openAppender(folder, () => Date.now());
  const reasonAgainst = async (parcel: Parcel): Promise<string | null> => {
    try {
      const { record, secrets, limits } = unpackJob(parcel);
      await appender.append(record, secrets, limits);
      return null;
    } catch (thrown) {
      return reasonOf(thrown);
    }
  };
  return {
    async run(parcels) {
      const reasons: (string | null)[] = [];
      for (const parcel of parcels) reasons.push(await reasonAgainst(parcel));
      return reasons;
    },
  };
});
