/** The baseline of a pull that finds nothing new: the same bytes fetched and parsed, nothing else. */
import { timed } from './bare-mirror.ts';
import { eachPage } from './bare-get.ts';
import type { Place } from '../setup/installation.ts';
import type { JobResult } from '../setup/job.ts';

export async function job(place: Place): Promise<JobResult> {
  let vendors = 0;
  const took = await timed(() =>
    eachPage(
      place,
      () => undefined,
      ({ response }) => (vendors += response.result.bill_vendors.length),
    ),
  );
  return { result: { ...took, vendors } };
}
