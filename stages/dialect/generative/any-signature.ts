/**
 * The signature that Gemini's documentation gives for calls that another model made: it stands where
 * one has to be, and is not checked [ai.google.dev/gemini-api/docs/thought-signatures].
 */
export const ANY_SIGNATURE = 'skip_thought_signature_validator';
