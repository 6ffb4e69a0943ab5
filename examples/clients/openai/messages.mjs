// Asks a gateway through Anthropic's own client: node messages.mjs URL KEY POOR-KEY. A tenant of POOR-KEY has used its quota.
import Anthropic from "@anthropic-ai/sdk";

const [baseURL, apiKey, poorKey] = process.argv.slice(2);
const client = new Anthropic({ baseURL, apiKey, maxRetries: 0 });
const model = "m";
const messages = [{ role: "user", content: "one two three" }];
const tools = [{ name: "weather", input_schema: { type: "object", properties: {} } }];
const caught = (promise) => promise.then(() => "no error", (error) => error);

const models = await client.models.list();
console.log("models", models.data.map(({ id }) => id).join(), (await client.models.retrieve(model)).type);

const whole = await client.messages.create({ model, messages, max_tokens: 9 });
console.log("message", whole.type, whole.stop_reason, whole.usage.cache_read_input_tokens > 0);

const stream = client.messages.stream({ model, messages, max_tokens: 9 });
const types = [];
stream.on("streamEvent", ({ type }) => types.push(type));
const streamed = await stream.finalMessage();
console.log("message streamed", streamed.content[0].text === whole.content[0].text,
  streamed.usage.cache_read_input_tokens === whole.usage.cache_read_input_tokens,
  streamed.usage.input_tokens === whole.usage.input_tokens,
  streamed.usage.output_tokens === whole.usage.output_tokens, [...new Set(types)].join(" "));

const parts = [{ role: "user", content: [{ type: "text", text: "one two three" },
  { type: "image", source: { type: "base64", media_type: "image/png", data: "AA==" } }] }];
const seen = await client.messages.create({ model, system: [{ type: "text", text: "zero" }], messages: parts, max_tokens: 9 });
console.log("message of parts", seen.content[0].text.length > 0);

const asked = await client.messages.stream({ model, messages, tools, max_tokens: 9 }).finalMessage();
const call = asked.content[0];
const after = [...messages, { role: "assistant", content: asked.content },
  { role: "user", content: [{ type: "tool_result", tool_use_id: call.id, content: [{ type: "text", text: "rain" }] }] }];
const answered = await client.messages.create({ model, messages: after, tools, max_tokens: 9 });
console.log("message with tools", asked.stop_reason, call.name, JSON.stringify(call.input), answered.stop_reason);

const held = client.messages.stream({ model, messages: [{ role: "user", content: "hold" }], max_tokens: 9 });
held.on("text", () => held.abort());
const aborted = await caught(held.finalMessage());
console.log("cancel", aborted.constructor.name);

const unknown = await caught(client.messages.create({ model: "none", messages, max_tokens: 9 }));
console.log("unknown model", unknown.constructor.name, unknown.status, unknown.type, Boolean(unknown.requestID));
const refused = await caught(new Anthropic({ baseURL, apiKey: "wrong", maxRetries: 0 })
  .messages.create({ model, messages, max_tokens: 9 }));
console.log("wrong key", refused.constructor.name, refused.status, refused.type);
const limited = await caught(new Anthropic({ baseURL, apiKey: poorKey, maxRetries: 0 })
  .messages.create({ model, messages, max_tokens: 9 }));
console.log("quota", limited.constructor.name, limited.status, limited.type, Number(limited.headers.get("retry-after")) > 0);
const bad = await caught(client.messages.create({ model, messages: [], max_tokens: 9 }));
console.log("bad request", bad.constructor.name, bad.status, bad.type);
