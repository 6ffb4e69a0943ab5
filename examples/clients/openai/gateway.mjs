// Asks a gateway through OpenAI's own client: node gateway.mjs URL KEY POOR-KEY. A tenant of POOR-KEY has used its quota.
import OpenAI from "openai";

const [url, apiKey, poorKey] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `${url}/v1`, apiKey, maxRetries: 0 });
const model = "m";
const messages = [{ role: "user", content: "one two three" }];
const tools = [{ type: "function", function: { name: "weather", parameters: { type: "object", properties: {} } } }];
const caught = (promise) => promise.then(() => "no error", (error) => error);

const models = await client.models.list();
console.log("models", models.data.map(({ id }) => id).join());

const whole = await client.chat.completions.create({ model, messages, max_completion_tokens: 6 });
const text = whole.choices[0].message.content;
console.log("chat", whole.choices[0].finish_reason, whole.usage.prompt_tokens_details.cached_tokens > 0);

const stream = client.chat.completions.stream({
  model, messages, max_completion_tokens: 6, stream_options: { include_usage: true },
});
const streamed = await stream.finalChatCompletion();
console.log("chat streamed", streamed.choices[0].message.content === text,
  streamed.usage.total_tokens === whole.usage.total_tokens,
  streamed.usage.prompt_tokens_details.cached_tokens === whole.usage.prompt_tokens_details.cached_tokens);

const plain = await client.chat.completions.create({ model, messages, max_completion_tokens: 6, stream: true });
let pieces = "";
let hasUsage = false;
for await (const chunk of plain) {
  pieces += chunk.choices[0].delta.content ?? "";
  hasUsage ||= Boolean(chunk.usage);
}
console.log("chat streamed without usage", pieces === text, !hasUsage);

const parts = [{ role: "user", content: [{ type: "text", text: "one two three" },
  { type: "image_url", image_url: { url: "data:image/png;base64,AA==" } }] }];
const seen = await client.chat.completions.create({ model, messages: parts, max_completion_tokens: 6 });
console.log("chat of parts", seen.choices[0].message.content === text);

const called = client.chat.completions.stream({ model, messages, tools });
const call = (await called.finalMessage()).tool_calls[0];
const after = [...messages, { role: "assistant", content: null, tool_calls: [call] },
  { role: "tool", tool_call_id: call.id, content: "rain" }];
const answered = await client.chat.completions.create({ model, messages: after, tools });
console.log("chat with tools", call.function.name, call.function.arguments, answered.choices[0].finish_reason);

const completion = await client.completions.create({ model, prompt: "one two", max_tokens: 4, n: 2 });
console.log("completion", completion.choices.map(({ finish_reason }) => finish_reason).join(),
  completion.usage.prompt_tokens_details.cached_tokens > 0);

const response = await client.responses.create({ model, input: "one two three", max_output_tokens: 9 });
console.log("response", response.status, response.output_text.length > 0,
  response.usage.input_tokens_details.cached_tokens > 0);

const types = [];
const events = client.responses.stream({ model, input: "one two three", max_output_tokens: 9 });
for await (const { type, sequence_number } of events) {
  types.push(sequence_number === types.length ? type : "out of turn");
}
const final = await events.finalResponse();
console.log("response streamed", final.output_text === response.output_text, final.usage.total_tokens
  === response.usage.total_tokens, [...new Set(types)].join(" ").replaceAll("response.", ""));

const responseTools = [{ type: "function", name: "weather", parameters: { type: "object", properties: {} }, strict: null }];
const toolEvents = client.responses.stream({ model, input: "one two three", tools: responseTools });
let done;
for await (const event of toolEvents) {
  done = event.type === "response.function_call_arguments.done" ? event : done;
}
const item = (await toolEvents.finalResponse()).output[0];
const results = [{ role: "user", content: [{ type: "input_text", text: "one two three" }] }, item,
  { type: "function_call_output", call_id: item.call_id, output: "rain" }];
const last = await client.responses.create({ model, input: results, tools: responseTools });
console.log("response with tools", done.name, item.name, item.arguments, last.output_text.length > 0);

const held = await client.chat.completions.create({
  model, messages: [{ role: "user", content: "hold" }], max_completion_tokens: 6, stream: true,
});
for await (const chunk of held) {
  if (chunk.choices[0].delta.content) {
    held.controller.abort();
  }
}
console.log("cancel", held.controller.signal.aborted);

const unknown = await caught(client.chat.completions.create({ model: "none", messages }));
console.log("unknown model", unknown.constructor.name, unknown.status, unknown.code, unknown.param, unknown.type);
const stranger = new OpenAI({ baseURL: `${url}/v1`, apiKey: "wrong", maxRetries: 0 });
const refused = await caught(stranger.responses.create({ model, input: "one" }));
console.log("wrong key", refused.constructor.name, refused.status, refused.code);
const poor = new OpenAI({ baseURL: `${url}/v1`, apiKey: poorKey, maxRetries: 0 });
const limited = await caught(poor.chat.completions.create({ model, messages }));
console.log("quota", limited.constructor.name, limited.status, limited.code, Number(limited.headers.get("retry-after")) > 0);
const bad = await caught(client.chat.completions.create({ model, messages: [] }));
console.log("bad request", bad.constructor.name, bad.status, bad.code, bad.param);
const stored = await caught(client.responses.create({ model, input: "one", previous_response_id: "resp_1" }));
console.log("stored response", stored.constructor.name, stored.status, stored.param);
