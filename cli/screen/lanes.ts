/** The lanes of a saving as rows of a table: what each saved, and how. */
import { counted, dollars, figure } from './output.ts';
import type { Json } from '../remote.ts';

/** A row a lane, from the `lanes` of `/savings`. A lane without figures has dashes. */
export function laneTable(lanes: Json) {
  return { head: ['lane', '>tokens', '>worth', ''], rows: laneRows(lanes) };
}

function laneRows(lanes: Json): string[][] {
  const of = (name: string) => (lanes[name] ?? {}) as Json;
  const [compression, marked] = [of('compression'), of('cache_breakpoints')];
  const forgetting = of('forgetting');
  const long = of('long_results');
  const isLong = Number(long['requests']) > 0;
  const isForgetting = Number(forgetting['requests']) > 0;
  const [answers, provider] = [of('response_cache'), of('provider_cache')];
  const requests = (lane: Json) => counted(Number(lane['requests']), 'request');
  const written = figure(marked['written_tokens']);
  const isMarked = Number(marked['requests']) > 0;
  return [
    [
      'compression',
      figure(compression['tokens_saved']),
      dollars(compression['cost_saved_usd']),
      '',
    ],
    [
      'cache breakpoints',
      isMarked ? figure(marked['read_tokens']) : '–',
      dollars(marked['cost_saved_usd']),
      isMarked ? `read in ${requests(marked)}, ${written} written` : 'none set',
    ],
    [
      'forgetting',
      isForgetting ? figure(forgetting['tokens_saved']) : '–',
      dollars(forgetting['cost_saved_usd']),
      isForgetting ? `old results in ${requests(forgetting)}` : 'none left out',
    ],
    [
      'long results',
      isLong ? figure(long['tokens_saved']) : '–',
      dollars(long['cost_saved_usd']),
      isLong ? `parts in ${requests(long)}` : 'none in parts',
    ],
    ['response cache', '–', dollars(answers['cost_saved_usd']), requests(answers)],
    ['provider’s own cache', figure(provider['read_tokens']), '–', 'read, credited to nobody'],
  ];
}
