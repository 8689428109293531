/** The report for the current range and filters. */
import type { ReportJson } from '../contract.ts';
import { useFetched } from './fetched.ts';
import type { Fetched } from './fetched.ts';
import { queryOf } from './requests/requests-data.ts';

export function useReport(query: URLSearchParams): Fetched<ReportJson> {
  return useFetched<ReportJson>(
    query.toString(),
    () => `/dashboard/api/report?${queryOf(query).toString()}`,
  );
}
