/** Returns the node name of a provider that is code, in the graph, in traces and in faults. */
export const providerNode = (name: string): string => `provider:${name}`;
