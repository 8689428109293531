/** Instructions for models that take them only before the conversation. */

/** The text of the user that stands where instructions stood, marked so that a model can tell the two apart. */
export function markedInstructions(text: string): string {
  return `<system>\n${text}\n</system>`;
}
