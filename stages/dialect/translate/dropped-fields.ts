/**
 * Request fields that are dropped deliberately when a request goes to another dialect, with the
 * reason: none of them changes the model's task. A top-level field that is in no list here and that
 * no reader knows is dropped too, but named in the trace as unknown, because new fields come
 * weekly. `cache_control` on blocks and tools is dropped without a note: it is on every request,
 * and only affects the price.
 */
import type { JsonObject, Note, TranslatableDialect } from '../canonical.ts';

const CACHING = 'prompt caching is the provider’s own; it changes the price, not the answer';
const ACCOUNT = 'identifies the user or the request to its provider';
const SERVICE = 'speed, price or storage class at its provider';
const DISPLAY = 'asks for extra output, not for another answer';

/** Why each field is dropped, by source dialect. */
const droppedFields: Record<TranslatableDialect, { readonly [field: string]: string }> = {
  messages: {
    metadata: ACCOUNT,
    cache_control: CACHING,
    context_management: 'trims the history inside the provider, which the client sends whole',
    betas: 'switches of one provider; the headers of the same name are dropped with it',
    service_tier: SERVICE,
    speed: SERVICE,
    billing_policy: SERVICE,
    fallback_credit_token: SERVICE,
    user_profile_id: ACCOUNT,
    workspace_id: ACCOUNT,
    fallbacks: 'names other models of the same provider',
    diagnostics: DISPLAY,
  },
  chat: {
    user: ACCOUNT,
    metadata: ACCOUNT,
    safety_identifier: ACCOUNT,
    store: SERVICE,
    service_tier: SERVICE,
    prompt_cache_key: CACHING,
    prompt_cache_retention: CACHING,
    prediction: 'speeds up an edit; the answer is the same without it',
    verbosity: 'a hint on length without a counterpart',
    stream_options: 'about the framing of the stream, which the proxy writes itself',
    usage: DISPLAY,
    top_logprobs: DISPLAY,
    safety_model: SERVICE,
    provider: 'routing inside one aggregator',
    models: 'routing inside one aggregator',
    route: 'routing inside one aggregator',
    transforms: 'trims the history inside one aggregator',
    reasoning_format: DISPLAY,
    include_reasoning: DISPLAY,
    clear_thinking: 'thinking does not cross providers anyway',
    moderation: DISPLAY,
  },
  responses: {
    user: ACCOUNT,
    metadata: ACCOUNT,
    client_metadata: ACCOUNT,
    safety_identifier: ACCOUNT,
    store: 'a later request that refers to the stored answer is refused with its own reason',
    include: DISPLAY,
    service_tier: SERVICE,
    prompt_cache_key: CACHING,
    prompt_cache_retention: CACHING,
    prompt_cache_options: CACHING,
    truncation: 'the provider trims only where its own window ends',
    stream_options: 'about the framing of the stream, which the proxy writes itself',
    max_tool_calls: 'counts the calls of tools that the provider runs',
    context_management: 'trims the history inside the provider, which the client sends whole',
    moderation: DISPLAY,
    background: 'false is what every other dialect does',
  },
  generative: {
    safetySettings: 'thresholds of one provider’s filters',
    labels: ACCOUNT,
    serviceTier: SERVICE,
    store: SERVICE,
    model: 'the path names the model',
    logprobs: DISPLAY,
    mediaResolution: 'a hint on the cost of images without a counterpart',
  },
};

/**
 * What is deliberately dropped or moved inside a request; each sentence is the note that the trace
 * shows.
 */
export const droppedParts = Object.freeze({
  billing: 'billing header block left out: it concerns its own provider',
  requestedCitations: 'citations of documents are not requested: no other dialect has them',
  citations: 'citations left out: the text that they annotate is kept',
  effort: 'output_config.effort left out: an unknown effort',
  effortAlone: 'output_config.effort left out: in other dialects it would turn thinking on',
  errorMark: 'the error flag of a tool result left out: its text shows it',
  singleCall: 'the limit of one tool call at a time left out: an answer may make several',
  spoken:
    'spoken output left out: it is stored at its provider; a transcript from the client is kept',
  userName: 'the name of a user message left out: no other dialect has one',
  summedUp: 'messages before a summary left out: the summary replaces them',
  failedSummary: 'a failed summary left out: its provider ignores it as well',
  taskBudget: 'output_config.task_budget left out: a hint without a counterpart',
  thinking: 'thinking left out: only its own provider reads it',
  verbosity: 'text.verbosity left out: a hint on length without a counterpart',
  middle: 'instructions in the middle of the conversation are sent as marked user text',
  brokenCall: 'the arguments of a call are not a JSON object: they are sent as text',
  unansweredCall: 'a call that was cut off and never answered left out',
});

/** Notes every field of `body` that is not in the list of `known` fields. */
export function noteDropped(
  dialect: TranslatableDialect,
  body: JsonObject,
  known: ReadonlySet<string>,
  note: Note,
): void {
  const reasons = droppedFields[dialect];
  for (const [field, value] of Object.entries(body)) {
    if (known.has(field) || value === null || value === undefined) continue;
    const reason = Object.hasOwn(reasons, field) ? reasons[field] : 'unknown to the translation';
    note(`${field} left out: ${reason}`);
  }
}
