// Asks an endpoint as users of OpenAI's own client do: node openai.mjs HOST:PORT MODEL
import OpenAI from "openai";

const [address, model] = process.argv.slice(2);
const client = new OpenAI({ baseURL: `http://${address}/v1`, apiKey: "none", maxRetries: 0 });
const messages = [{ role: "user", content: "What moves in a penstock?" }];

const models = await client.models.list();
console.log("models", models.data.map(({ id }) => id).includes(model));

const whole = await client.chat.completions.create({ model, messages, max_completion_tokens: 24 });
console.log("complete", whole.choices[0].finish_reason, whole.usage.completion_tokens > 0);

let text = "";
let usage;
const stream = await client.chat.completions.create({
  model, messages, max_completion_tokens: 24, stream: true, stream_options: { include_usage: true },
});
for await (const chunk of stream) {
  text += chunk.choices[0]?.delta?.content ?? "";
  usage = chunk.usage ?? usage;
}
console.log("stream", text === whole.choices[0].message.content, usage.total_tokens === whole.usage.total_tokens);

const completion = await client.completions.create({ model, prompt: "water", max_tokens: 5 });
console.log("completion", completion.choices[0].finish_reason);

const cancelled = await client.chat.completions.create({ model, messages, max_completion_tokens: 400, stream: true });
let pieces = 0;
for await (const chunk of cancelled) {
  pieces += chunk.choices.length;
  if (pieces === 3) {
    cancelled.controller.abort();
  }
}
console.log("cancel", pieces < 400);

const refusal = await client.chat.completions.create({ model: "other", messages }).catch((error) => error);
console.log("refusal", refusal.status, refusal instanceof OpenAI.NotFoundError);
