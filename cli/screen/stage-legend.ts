/** Descriptions of the stages by their names in the graph, for all screens. */
const LEGEND: Readonly<Record<string, string>> = {
  parse: 'reads the request',
  template: 'fills in a prompt template',
  protect: 'marks what is never rewritten',
  recipes: 'chooses the rules of recipes',
  compress: 'compresses tool output',
  inject: 'adds text from your files',
  route: 'chooses provider and model',
  lookup: 'looks into the response cache',
  spend: 'checks the spending limits',
  forward: 'waits until the provider begins its answer',
  keep: 'stores the answer in the cache',
  meter: 'counts tokens and cost',
};

/** Returns a stage's description in a few words; empty for a plugin's stage. */
export function stageDescription(node: string): string {
  return Object.hasOwn(LEGEND, node) ? LEGEND[node]! : '';
}
