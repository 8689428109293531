/** The stages of a request by the names that traces have, with what each does. One list for all screens. */
const LEGEND: Readonly<Record<string, string>> = {
  parse: 'reads the request',
  protect: 'marks what is never rewritten',
  compaction: 'makes tool output smaller',
  vault_inject: 'adds what your files say',
  route: 'chooses provider and model',
  lookup: 'looks into the response cache',
  spend: 'checks the spending limits',
  upstream_forward: 'waits until the provider begins its answer',
  keep: 'stores the answer in the cache',
  meter: 'counts tokens and cost',
};

/** What a stage does, in a few words; empty for a stage of a plugin. */
export function stageWords(name: string): string {
  return Object.hasOwn(LEGEND, name) ? LEGEND[name]! : '';
}
