package io.penstock.examples.openai;

/// The figures of an engine in Prometheus' text form, under the names that vLLM gives them.
final class EngineMetrics {
  private final Engine engine;
  private final StringBuilder text = new StringBuilder();

  private EngineMetrics(Engine engine) {
    this.engine = engine;
  }

  static String text(Engine engine, EngineSlots slots) {
    EngineMetrics metrics = new EngineMetrics(engine);
    metrics.add("gauge", "num_requests_running", "Requests that are computed.", slots.running());
    metrics.add("gauge", "num_requests_waiting", "Requests that wait for a slot.", slots.waiting());
    metrics.add("gauge", "kv_cache_usage_perc", "Part of the KV cache in use; 1 means all.", engine.cacheUsage());
    metrics.add("counter", "prompt_tokens_total", "Tokens of prompts.", slots.promptTokens());
    metrics.add("counter", "generation_tokens_total", "Tokens of answers.", slots.answerTokens());
    metrics.add("counter", "prefix_cache_queries_total", "Tokens looked up in the cache.", slots.promptTokens());
    metrics.add("counter", "prefix_cache_hits_total", "Tokens found in the cache.", slots.cachedTokens());
    return metrics.text.toString();
  }

  private void add(String type, String name, String help, Number value) {
    text.append("# HELP vllm:").append(name).append(' ').append(help).append('\n')
        .append("# TYPE vllm:").append(name).append(' ').append(type).append('\n')
        .append("vllm:").append(name).append("{model_name=\"").append(engine.model()).append("\"} ").append(value)
        .append('\n');
  }
}
