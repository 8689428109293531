/**
 * The signature that Gemini's documentation gives for calls made by another model: it satisfies the
 * requirement, and is not checked [ai.google.dev/gemini-api/docs/thought-signatures].
 */
export const ANY_SIGNATURE = 'skip_thought_signature_validator';
