/**
 * The numbered steps that lead to the ledger's schema, as released: text, so that no later change
 * of a list of columns or sums can change a step. A released step is never edited; a change of the
 * schema is a new step at the end.
 */

/** One step of the schema; its number is its position in the list, counted from 1. */
export type Migration = readonly string[];

/** All steps, oldest first. */
export const migrations: readonly Migration[] = [
  [
    `CREATE TABLE requests (
      id TEXT PRIMARY KEY,
      started_ms INTEGER NOT NULL,
      provider TEXT,
      dialect TEXT,
      endpoint TEXT NOT NULL,
      model_requested TEXT,
      model TEXT,
      stream INTEGER NOT NULL,
      status INTEGER,
      outcome TEXT NOT NULL CHECK (outcome IN ('ok', 'error', 'cancelled', 'partial')),
      error_kind TEXT,
      error_code TEXT,
      input_tokens_raw INTEGER,
      input_tokens_sent INTEGER,
      saved_tokens INTEGER CHECK (saved_tokens >= 0),
      output_tokens INTEGER,
      cache_read_tokens INTEGER,
      cache_write_tokens INTEGER,
      usage_estimated INTEGER NOT NULL,
      cost_nano_usd INTEGER,
      cost_saved_nano_usd INTEGER,
      latency_ms REAL,
      ttfb_ms REAL,
      attempts INTEGER NOT NULL,
      mode TEXT,
      cache_hit INTEGER NOT NULL,
      chunks_injected INTEGER,
      tokens_injected INTEGER,
      top_chunks TEXT,
      client TEXT,
      session_id TEXT,
      skill TEXT,
      node TEXT
    ) STRICT`,
    `CREATE INDEX requests_started ON requests (started_ms)`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN added_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_added_nano_usd INTEGER`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN breakpoints INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_saved_by_breakpoints_nano_usd INTEGER`,
  ],
  [
    `CREATE TABLE hours (
    started_ms INTEGER NOT NULL,
    provider TEXT, model TEXT, client TEXT, skill TEXT, node TEXT, mode TEXT,
    requests INTEGER NOT NULL, errors INTEGER NOT NULL, cancelled INTEGER NOT NULL, cache_hits INTEGER NOT NULL, streamed INTEGER NOT NULL, input_tokens INTEGER NOT NULL, sent_input_tokens INTEGER NOT NULL, saved_tokens INTEGER NOT NULL, added_tokens INTEGER NOT NULL, output_tokens INTEGER NOT NULL, cache_read_tokens INTEGER NOT NULL, cache_write_tokens INTEGER NOT NULL, marked INTEGER NOT NULL, marked_read_tokens INTEGER NOT NULL, marked_write_tokens INTEGER NOT NULL, cost_nano_usd INTEGER NOT NULL, cost_saved_nano_usd INTEGER NOT NULL, cost_saved_by_breakpoints_nano_usd INTEGER NOT NULL, cost_saved_by_answers_nano_usd INTEGER NOT NULL, cost_added_nano_usd INTEGER NOT NULL, priced INTEGER NOT NULL, unpriced INTEGER NOT NULL, latency_sum_ms REAL NOT NULL, timed INTEGER NOT NULL
  ) STRICT`,
    `CREATE UNIQUE INDEX hours_of ON hours (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1)))`,
    `INSERT INTO hours (started_ms, provider, model, client, skill, node, mode, requests, errors, cancelled, cache_hits, streamed, input_tokens, sent_input_tokens, saved_tokens, added_tokens, output_tokens, cache_read_tokens, cache_write_tokens, marked, marked_read_tokens, marked_write_tokens, cost_nano_usd, cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd, cost_added_nano_usd, priced, unpriced, latency_sum_ms, timed)
   SELECT started_ms - started_ms % 3600000 AS hour, provider, model, client, skill, node, mode,
     sum(1), sum(CASE WHEN outcome IN ('error', 'partial') OR coalesce(status, 0) >= 400 THEN 1 ELSE 0 END), sum(CASE WHEN outcome = 'cancelled' THEN 1 ELSE 0 END), sum(cache_hit), sum(stream), sum(coalesce(input_tokens_raw, 0)), sum(coalesce(input_tokens_sent, 0)), sum(coalesce(saved_tokens, 0)), sum(coalesce(added_tokens, 0)), sum(coalesce(output_tokens, 0)), sum(coalesce(cache_read_tokens, 0)), sum(coalesce(cache_write_tokens, 0)), sum(CASE WHEN breakpoints IS NOT NULL THEN 1 ELSE 0 END), sum(CASE WHEN breakpoints IS NOT NULL THEN coalesce(cache_read_tokens, 0) ELSE 0 END), sum(CASE WHEN breakpoints IS NOT NULL THEN coalesce(cache_write_tokens, 0) ELSE 0 END), sum(coalesce(cost_nano_usd, 0)), sum(coalesce(cost_saved_nano_usd, 0)), sum(coalesce(cost_saved_by_breakpoints_nano_usd, 0)), sum(CASE WHEN cache_hit = 1 THEN coalesce(cost_saved_nano_usd, 0) ELSE 0 END), sum(coalesce(cost_added_nano_usd, 0)), sum(CASE WHEN cost_nano_usd IS NOT NULL THEN 1 ELSE 0 END), sum(CASE WHEN cost_nano_usd IS NULL AND (input_tokens_sent IS NOT NULL OR output_tokens IS NOT NULL) THEN 1 ELSE 0 END), sum(coalesce(latency_ms, 0)), sum(CASE WHEN latency_ms IS NOT NULL THEN 1 ELSE 0 END)
   FROM requests GROUP BY hour, provider, model, client, skill, node, mode`,
    `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (started_ms, provider, model, client, skill, node, mode, requests, errors, cancelled, cache_hits, streamed, input_tokens, sent_input_tokens, saved_tokens, added_tokens, output_tokens, cache_read_tokens, cache_write_tokens, marked, marked_read_tokens, marked_write_tokens, cost_nano_usd, cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd, cost_added_nano_usd, priced, unpriced, latency_sum_ms, timed)
    VALUES (new.started_ms - new.started_ms % 3600000, new.provider, new.model, new.client, new.skill, new.node, new.mode, 1, CASE WHEN new.outcome IN ('error', 'partial') OR coalesce(new.status, 0) >= 400 THEN 1 ELSE 0 END, CASE WHEN new.outcome = 'cancelled' THEN 1 ELSE 0 END, new.cache_hit, new.stream, coalesce(new.input_tokens_raw, 0), coalesce(new.input_tokens_sent, 0), coalesce(new.saved_tokens, 0), coalesce(new.added_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cache_read_tokens, 0), coalesce(new.cache_write_tokens, 0), CASE WHEN new.breakpoints IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_read_tokens, 0) ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_write_tokens, 0) ELSE 0 END, coalesce(new.cost_nano_usd, 0), coalesce(new.cost_saved_nano_usd, 0), coalesce(new.cost_saved_by_breakpoints_nano_usd, 0), CASE WHEN new.cache_hit = 1 THEN coalesce(new.cost_saved_nano_usd, 0) ELSE 0 END, coalesce(new.cost_added_nano_usd, 0), CASE WHEN new.cost_nano_usd IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.cost_nano_usd IS NULL AND (new.input_tokens_sent IS NOT NULL OR new.output_tokens IS NOT NULL) THEN 1 ELSE 0 END, coalesce(new.latency_ms, 0), CASE WHEN new.latency_ms IS NOT NULL THEN 1 ELSE 0 END)
    ON CONFLICT (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1))) DO UPDATE SET
    requests = requests + excluded.requests, errors = errors + excluded.errors, cancelled = cancelled + excluded.cancelled, cache_hits = cache_hits + excluded.cache_hits, streamed = streamed + excluded.streamed, input_tokens = input_tokens + excluded.input_tokens, sent_input_tokens = sent_input_tokens + excluded.sent_input_tokens, saved_tokens = saved_tokens + excluded.saved_tokens, added_tokens = added_tokens + excluded.added_tokens, output_tokens = output_tokens + excluded.output_tokens, cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, marked = marked + excluded.marked, marked_read_tokens = marked_read_tokens + excluded.marked_read_tokens, marked_write_tokens = marked_write_tokens + excluded.marked_write_tokens, cost_nano_usd = cost_nano_usd + excluded.cost_nano_usd, cost_saved_nano_usd = cost_saved_nano_usd + excluded.cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd = cost_saved_by_breakpoints_nano_usd + excluded.cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd = cost_saved_by_answers_nano_usd + excluded.cost_saved_by_answers_nano_usd, cost_added_nano_usd = cost_added_nano_usd + excluded.cost_added_nano_usd, priced = priced + excluded.priced, unpriced = unpriced + excluded.unpriced, latency_sum_ms = latency_sum_ms + excluded.latency_sum_ms, timed = timed + excluded.timed;
  END`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN forgotten_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_saved_by_forgetting_nano_usd INTEGER`,
    `ALTER TABLE hours ADD COLUMN forgetting INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN forgotten_tokens INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN cost_saved_by_forgetting_nano_usd INTEGER NOT NULL DEFAULT 0`,
    `DROP TRIGGER requests_into_hours`,
    `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (started_ms, provider, model, client, skill, node, mode, requests, errors, cancelled, cache_hits, streamed, input_tokens, sent_input_tokens, saved_tokens, added_tokens, output_tokens, cache_read_tokens, cache_write_tokens, marked, marked_read_tokens, marked_write_tokens, cost_nano_usd, cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd, cost_added_nano_usd, priced, unpriced, latency_sum_ms, timed, forgetting, forgotten_tokens, cost_saved_by_forgetting_nano_usd)
    VALUES (new.started_ms - new.started_ms % 3600000, new.provider, new.model, new.client, new.skill, new.node, new.mode, 1, CASE WHEN new.outcome IN ('error', 'partial') OR coalesce(new.status, 0) >= 400 THEN 1 ELSE 0 END, CASE WHEN new.outcome = 'cancelled' THEN 1 ELSE 0 END, new.cache_hit, new.stream, coalesce(new.input_tokens_raw, 0), coalesce(new.input_tokens_sent, 0), coalesce(new.saved_tokens, 0), coalesce(new.added_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cache_read_tokens, 0), coalesce(new.cache_write_tokens, 0), CASE WHEN new.breakpoints IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_read_tokens, 0) ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_write_tokens, 0) ELSE 0 END, coalesce(new.cost_nano_usd, 0), coalesce(new.cost_saved_nano_usd, 0), coalesce(new.cost_saved_by_breakpoints_nano_usd, 0), CASE WHEN new.cache_hit = 1 THEN coalesce(new.cost_saved_nano_usd, 0) ELSE 0 END, coalesce(new.cost_added_nano_usd, 0), CASE WHEN new.cost_nano_usd IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.cost_nano_usd IS NULL AND (new.input_tokens_sent IS NOT NULL OR new.output_tokens IS NOT NULL) THEN 1 ELSE 0 END, coalesce(new.latency_ms, 0), CASE WHEN new.latency_ms IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.forgotten_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.forgotten_tokens, 0), coalesce(new.cost_saved_by_forgetting_nano_usd, 0))
    ON CONFLICT (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1))) DO UPDATE SET
    requests = requests + excluded.requests, errors = errors + excluded.errors, cancelled = cancelled + excluded.cancelled, cache_hits = cache_hits + excluded.cache_hits, streamed = streamed + excluded.streamed, input_tokens = input_tokens + excluded.input_tokens, sent_input_tokens = sent_input_tokens + excluded.sent_input_tokens, saved_tokens = saved_tokens + excluded.saved_tokens, added_tokens = added_tokens + excluded.added_tokens, output_tokens = output_tokens + excluded.output_tokens, cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, marked = marked + excluded.marked, marked_read_tokens = marked_read_tokens + excluded.marked_read_tokens, marked_write_tokens = marked_write_tokens + excluded.marked_write_tokens, cost_nano_usd = cost_nano_usd + excluded.cost_nano_usd, cost_saved_nano_usd = cost_saved_nano_usd + excluded.cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd = cost_saved_by_breakpoints_nano_usd + excluded.cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd = cost_saved_by_answers_nano_usd + excluded.cost_saved_by_answers_nano_usd, cost_added_nano_usd = cost_added_nano_usd + excluded.cost_added_nano_usd, priced = priced + excluded.priced, unpriced = unpriced + excluded.unpriced, latency_sum_ms = latency_sum_ms + excluded.latency_sum_ms, timed = timed + excluded.timed, forgetting = forgetting + excluded.forgetting, forgotten_tokens = forgotten_tokens + excluded.forgotten_tokens, cost_saved_by_forgetting_nano_usd = cost_saved_by_forgetting_nano_usd + excluded.cost_saved_by_forgetting_nano_usd;
  END`,
  ],
  [
    `CREATE INDEX requests_timed ON requests (started_ms, latency_ms)`,
    `DROP INDEX requests_started`,
    `CREATE INDEX requests_failed ON requests (started_ms) WHERE (outcome IN ('error', 'partial') OR coalesce(status, 0) >= 400)`,
    `CREATE INDEX requests_injected ON requests (started_ms) WHERE chunks_injected > 0`,
    `CREATE INDEX requests_of_session ON requests (session_id, started_ms) WHERE session_id IS NOT NULL`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN long_result_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_saved_by_long_results_nano_usd INTEGER`,
    `ALTER TABLE hours ADD COLUMN long_results INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN long_result_tokens INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN cost_saved_by_long_results_nano_usd INTEGER NOT NULL DEFAULT 0`,
    `DROP TRIGGER requests_into_hours`,
    `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (started_ms, provider, model, client, skill, node, mode, requests, errors, cancelled, cache_hits, streamed, input_tokens, sent_input_tokens, saved_tokens, added_tokens, output_tokens, cache_read_tokens, cache_write_tokens, marked, marked_read_tokens, marked_write_tokens, cost_nano_usd, cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd, cost_added_nano_usd, priced, unpriced, latency_sum_ms, timed, forgetting, forgotten_tokens, cost_saved_by_forgetting_nano_usd, long_results, long_result_tokens, cost_saved_by_long_results_nano_usd)
    VALUES (new.started_ms - new.started_ms % 3600000, new.provider, new.model, new.client, new.skill, new.node, new.mode, 1, CASE WHEN new.outcome IN ('error', 'partial') OR coalesce(new.status, 0) >= 400 THEN 1 ELSE 0 END, CASE WHEN new.outcome = 'cancelled' THEN 1 ELSE 0 END, new.cache_hit, new.stream, coalesce(new.input_tokens_raw, 0), coalesce(new.input_tokens_sent, 0), coalesce(new.saved_tokens, 0), coalesce(new.added_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cache_read_tokens, 0), coalesce(new.cache_write_tokens, 0), CASE WHEN new.breakpoints IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_read_tokens, 0) ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_write_tokens, 0) ELSE 0 END, coalesce(new.cost_nano_usd, 0), coalesce(new.cost_saved_nano_usd, 0), coalesce(new.cost_saved_by_breakpoints_nano_usd, 0), CASE WHEN new.cache_hit = 1 THEN coalesce(new.cost_saved_nano_usd, 0) ELSE 0 END, coalesce(new.cost_added_nano_usd, 0), CASE WHEN new.cost_nano_usd IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.cost_nano_usd IS NULL AND (new.input_tokens_sent IS NOT NULL OR new.output_tokens IS NOT NULL) THEN 1 ELSE 0 END, coalesce(new.latency_ms, 0), CASE WHEN new.latency_ms IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.forgotten_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.forgotten_tokens, 0), coalesce(new.cost_saved_by_forgetting_nano_usd, 0), CASE WHEN new.long_result_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.long_result_tokens, 0), coalesce(new.cost_saved_by_long_results_nano_usd, 0))
    ON CONFLICT (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1))) DO UPDATE SET
    requests = requests + excluded.requests, errors = errors + excluded.errors, cancelled = cancelled + excluded.cancelled, cache_hits = cache_hits + excluded.cache_hits, streamed = streamed + excluded.streamed, input_tokens = input_tokens + excluded.input_tokens, sent_input_tokens = sent_input_tokens + excluded.sent_input_tokens, saved_tokens = saved_tokens + excluded.saved_tokens, added_tokens = added_tokens + excluded.added_tokens, output_tokens = output_tokens + excluded.output_tokens, cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, marked = marked + excluded.marked, marked_read_tokens = marked_read_tokens + excluded.marked_read_tokens, marked_write_tokens = marked_write_tokens + excluded.marked_write_tokens, cost_nano_usd = cost_nano_usd + excluded.cost_nano_usd, cost_saved_nano_usd = cost_saved_nano_usd + excluded.cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd = cost_saved_by_breakpoints_nano_usd + excluded.cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd = cost_saved_by_answers_nano_usd + excluded.cost_saved_by_answers_nano_usd, cost_added_nano_usd = cost_added_nano_usd + excluded.cost_added_nano_usd, priced = priced + excluded.priced, unpriced = unpriced + excluded.unpriced, latency_sum_ms = latency_sum_ms + excluded.latency_sum_ms, timed = timed + excluded.timed, forgetting = forgetting + excluded.forgetting, forgotten_tokens = forgotten_tokens + excluded.forgotten_tokens, cost_saved_by_forgetting_nano_usd = cost_saved_by_forgetting_nano_usd + excluded.cost_saved_by_forgetting_nano_usd, long_results = long_results + excluded.long_results, long_result_tokens = long_result_tokens + excluded.long_result_tokens, cost_saved_by_long_results_nano_usd = cost_saved_by_long_results_nano_usd + excluded.cost_saved_by_long_results_nano_usd;
  END`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN tool_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_saved_by_tools_nano_usd INTEGER`,
    `ALTER TABLE hours ADD COLUMN trimmed_tools INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN tool_tokens INTEGER NOT NULL DEFAULT 0`,
    `ALTER TABLE hours ADD COLUMN cost_saved_by_tools_nano_usd INTEGER NOT NULL DEFAULT 0`,
    `DROP TRIGGER requests_into_hours`,
    `CREATE TRIGGER requests_into_hours AFTER INSERT ON requests BEGIN
    INSERT INTO hours (started_ms, provider, model, client, skill, node, mode, requests, errors, cancelled, cache_hits, streamed, input_tokens, sent_input_tokens, saved_tokens, added_tokens, output_tokens, cache_read_tokens, cache_write_tokens, marked, marked_read_tokens, marked_write_tokens, cost_nano_usd, cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd, cost_added_nano_usd, priced, unpriced, latency_sum_ms, timed, forgetting, forgotten_tokens, cost_saved_by_forgetting_nano_usd, long_results, long_result_tokens, cost_saved_by_long_results_nano_usd, trimmed_tools, tool_tokens, cost_saved_by_tools_nano_usd)
    VALUES (new.started_ms - new.started_ms % 3600000, new.provider, new.model, new.client, new.skill, new.node, new.mode, 1, CASE WHEN new.outcome IN ('error', 'partial') OR coalesce(new.status, 0) >= 400 THEN 1 ELSE 0 END, CASE WHEN new.outcome = 'cancelled' THEN 1 ELSE 0 END, new.cache_hit, new.stream, coalesce(new.input_tokens_raw, 0), coalesce(new.input_tokens_sent, 0), coalesce(new.saved_tokens, 0), coalesce(new.added_tokens, 0), coalesce(new.output_tokens, 0), coalesce(new.cache_read_tokens, 0), coalesce(new.cache_write_tokens, 0), CASE WHEN new.breakpoints IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_read_tokens, 0) ELSE 0 END, CASE WHEN new.breakpoints IS NOT NULL THEN coalesce(new.cache_write_tokens, 0) ELSE 0 END, coalesce(new.cost_nano_usd, 0), coalesce(new.cost_saved_nano_usd, 0), coalesce(new.cost_saved_by_breakpoints_nano_usd, 0), CASE WHEN new.cache_hit = 1 THEN coalesce(new.cost_saved_nano_usd, 0) ELSE 0 END, coalesce(new.cost_added_nano_usd, 0), CASE WHEN new.cost_nano_usd IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.cost_nano_usd IS NULL AND (new.input_tokens_sent IS NOT NULL OR new.output_tokens IS NOT NULL) THEN 1 ELSE 0 END, coalesce(new.latency_ms, 0), CASE WHEN new.latency_ms IS NOT NULL THEN 1 ELSE 0 END, CASE WHEN new.forgotten_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.forgotten_tokens, 0), coalesce(new.cost_saved_by_forgetting_nano_usd, 0), CASE WHEN new.long_result_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.long_result_tokens, 0), coalesce(new.cost_saved_by_long_results_nano_usd, 0), CASE WHEN new.tool_tokens IS NOT NULL THEN 1 ELSE 0 END, coalesce(new.tool_tokens, 0), coalesce(new.cost_saved_by_tools_nano_usd, 0))
    ON CONFLICT (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1))) DO UPDATE SET
    requests = requests + excluded.requests, errors = errors + excluded.errors, cancelled = cancelled + excluded.cancelled, cache_hits = cache_hits + excluded.cache_hits, streamed = streamed + excluded.streamed, input_tokens = input_tokens + excluded.input_tokens, sent_input_tokens = sent_input_tokens + excluded.sent_input_tokens, saved_tokens = saved_tokens + excluded.saved_tokens, added_tokens = added_tokens + excluded.added_tokens, output_tokens = output_tokens + excluded.output_tokens, cache_read_tokens = cache_read_tokens + excluded.cache_read_tokens, cache_write_tokens = cache_write_tokens + excluded.cache_write_tokens, marked = marked + excluded.marked, marked_read_tokens = marked_read_tokens + excluded.marked_read_tokens, marked_write_tokens = marked_write_tokens + excluded.marked_write_tokens, cost_nano_usd = cost_nano_usd + excluded.cost_nano_usd, cost_saved_nano_usd = cost_saved_nano_usd + excluded.cost_saved_nano_usd, cost_saved_by_breakpoints_nano_usd = cost_saved_by_breakpoints_nano_usd + excluded.cost_saved_by_breakpoints_nano_usd, cost_saved_by_answers_nano_usd = cost_saved_by_answers_nano_usd + excluded.cost_saved_by_answers_nano_usd, cost_added_nano_usd = cost_added_nano_usd + excluded.cost_added_nano_usd, priced = priced + excluded.priced, unpriced = unpriced + excluded.unpriced, latency_sum_ms = latency_sum_ms + excluded.latency_sum_ms, timed = timed + excluded.timed, forgetting = forgetting + excluded.forgetting, forgotten_tokens = forgotten_tokens + excluded.forgotten_tokens, cost_saved_by_forgetting_nano_usd = cost_saved_by_forgetting_nano_usd + excluded.cost_saved_by_forgetting_nano_usd, long_results = long_results + excluded.long_results, long_result_tokens = long_result_tokens + excluded.long_result_tokens, cost_saved_by_long_results_nano_usd = cost_saved_by_long_results_nano_usd + excluded.cost_saved_by_long_results_nano_usd, trimmed_tools = trimmed_tools + excluded.trimmed_tools, tool_tokens = tool_tokens + excluded.tool_tokens, cost_saved_by_tools_nano_usd = cost_saved_by_tools_nano_usd + excluded.cost_saved_by_tools_nano_usd;
  END`,
  ],
  [
    `DROP TRIGGER requests_into_hours`,
    `CREATE TABLE summed (rowid_upto INTEGER NOT NULL) STRICT`,
    `INSERT INTO summed SELECT coalesce(max(rowid), 0) FROM requests`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN cache_miss TEXT`,
    `ALTER TABLE requests ADD COLUMN cache_miss_detail TEXT`,
    `ALTER TABLE requests ADD COLUMN cache_missed_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_cache_missed_nano_usd INTEGER`,
    `CREATE INDEX requests_missed ON requests (started_ms) WHERE cache_miss IS NOT NULL`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN thoughts_refused INTEGER`,
    `ALTER TABLE requests ADD COLUMN thoughts_dropped INTEGER`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN key_label TEXT`,
    `ALTER TABLE requests ADD COLUMN project TEXT`,
    `ALTER TABLE hours ADD COLUMN key_label TEXT`,
    `ALTER TABLE hours ADD COLUMN project TEXT`,
    `DROP INDEX hours_of`,
    `CREATE UNIQUE INDEX hours_of ON hours (started_ms, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1)), coalesce(key_label, char(1)), coalesce(project, char(1)))`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN tool_results TEXT`,
    `ALTER TABLE requests ADD COLUMN tool_set TEXT`,
    `ALTER TABLE requests ADD COLUMN tool_definition_tokens INTEGER`,
    `ALTER TABLE requests ADD COLUMN cost_tool_definitions_nano_usd INTEGER`,
    `CREATE TABLE tool_sets (id TEXT PRIMARY KEY, tools TEXT NOT NULL) STRICT`,
    `CREATE TABLE tool_days (
    started_ms INTEGER NOT NULL, tool TEXT NOT NULL, provider TEXT, model TEXT, client TEXT, skill TEXT, node TEXT, mode TEXT, key_label TEXT, project TEXT,
    calls INTEGER NOT NULL, failed_calls INTEGER NOT NULL, result_tokens INTEGER NOT NULL, sent_result_tokens INTEGER NOT NULL
  ) STRICT`,
    `CREATE UNIQUE INDEX tool_days_of ON tool_days (started_ms, tool, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1)), coalesce(key_label, char(1)), coalesce(project, char(1)))`,
    `CREATE TABLE tool_set_days (
    started_ms INTEGER NOT NULL, tool_set TEXT NOT NULL, provider TEXT, model TEXT, client TEXT, skill TEXT, node TEXT, mode TEXT, key_label TEXT, project TEXT,
    definitions INTEGER NOT NULL, definition_tokens INTEGER NOT NULL, definition_nano_usd INTEGER NOT NULL, priced_definitions INTEGER NOT NULL
  ) STRICT`,
    `CREATE UNIQUE INDEX tool_set_days_of ON tool_set_days (started_ms, tool_set, coalesce(provider, char(1)), coalesce(model, char(1)), coalesce(client, char(1)), coalesce(skill, char(1)), coalesce(node, char(1)), coalesce(mode, char(1)), coalesce(key_label, char(1)), coalesce(project, char(1)))`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN reasoning_tokens INTEGER`,
    `ALTER TABLE hours ADD COLUMN reasoning_tokens INTEGER NOT NULL DEFAULT 0`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN web_searches INTEGER`,
    `ALTER TABLE hours ADD COLUMN web_searches INTEGER NOT NULL DEFAULT 0`,
  ],
  [
    // Proxy keys, by hash, for proxies that share a database. With a file, keys are in the home
    // folder.
    `CREATE TABLE proxy_keys (id TEXT PRIMARY KEY, stored TEXT NOT NULL) STRICT`,
  ],
  [
    `ALTER TABLE requests ADD COLUMN budget_nano_usd INTEGER`,
    `ALTER TABLE hours ADD COLUMN budget_nano_usd INTEGER NOT NULL DEFAULT 0`,
  ],
];
