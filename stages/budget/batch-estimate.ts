/**
 * Estimated usage of a batch whose body contains its requests, instead of naming a file at the
 * provider.
 */
import { isObject, objectOf, objectsOf, parseJson, stringOf } from '../dialect/json-kind.ts';
import type { JsonObject } from '../dialect/json-kind.ts';
import { createUsageSum } from '../dialect/usage-sum.ts';
import type { BodyFrame } from '../model/body.ts';
import { isPlain } from '../model/headers.ts';
import { tokensOfLength } from '../model/input-size.ts';
import { modelInPath, pathOf } from '../model/target.ts';
import { emptyUsage } from '../model/usage.ts';
import type { Usage } from '../model/usage.ts';
import { requestedOutput, maxOutputTokens } from './max-output.ts';

const MESSAGES_BATCHES = '/v1/messages/batches';
const GENERATIVE_BATCH = /:batchGenerateContent$/;
/** A larger body is not parsed while a request waits. */
const MAX_BYTES = 32 * 1024 * 1024;

/**
 * Returns the maximum usage of all its requests and the model of the first; undefined if they
 * cannot be read.
 */
export function estimateBatch(
  body: BodyFrame,
): { readonly model: string; readonly usage: Usage } | undefined {
  const path = pathOf(body.target);
  const isMessages = path === MESSAGES_BATCHES;
  if (!isMessages && !GENERATIVE_BATCH.test(path)) return undefined;
  if (body.bytes.length > MAX_BYTES || !isPlain(body)) return undefined;
  const json = objectOf(parseJson(body.bytes.toString('utf8')));
  const named = modelInPath(body.target);
  const requests = isMessages ? messagesIn(json) : generativeIn(json);
  const sum = createUsageSum('batch');
  for (const one of requests) {
    const model = named ?? stringOf(one['model']);
    if (model === undefined) return undefined;
    const inputTokens = tokensOfLength(JSON.stringify(one).length);
    const outputTokens = maxOutputTokens(requestedOutput(one), model);
    sum.add(model, { ...emptyUsage, inputTokens, outputTokens });
  }
  const model = sum.model();
  return model === undefined ? undefined : { model, usage: { ...sum.usage(), estimated: true } };
}

function messagesIn({ requests }: JsonObject): readonly JsonObject[] {
  return objectsOf(requests).map(({ params }) => objectOf(params));
}

function generativeIn(json: JsonObject): readonly JsonObject[] {
  const batch = objectOf(json['batch']);
  const config = [batch['inputConfig'], batch['input_config']].find(isObject);
  return objectsOf(objectOf(config?.['requests'])['requests']).map(({ request }) =>
    objectOf(request),
  );
}
