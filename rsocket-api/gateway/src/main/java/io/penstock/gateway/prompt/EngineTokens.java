package io.penstock.gateway.prompt;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.gateway.choice.PromptBlocks;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.HexFormat;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.atomic.LongAdder;
import org.jspecify.annotations.Nullable;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// The tokens that an engine makes of a text. Prompts that were asked for lately are remembered. An engine that does
/// not answer in time, or fails, costs the choice its knowledge, never the request.
///
/// - Threads: any.
public final class EngineTokens implements PromptTokens {
  /// Fields that decide the tokens of a completion.
  private static final List<String> COMPLETION = List.of("model", "add_special_tokens");
  /// Fields that decide the tokens of a chat, with the template of the engine.
  private static final List<String> CHAT = List.of("model", "messages", "tools", "add_special_tokens",
      "add_generation_prompt", "continue_final_message", "chat_template", "chat_template_kwargs");
  private static final JsonMapper MAPPER = JsonMapper.builder().build();

  private final Tokenizer tokenizer;
  private final Options options;
  private final Scheduler timer;
  private final AtomicInteger running = new AtomicInteger();
  private final LongAdder asked = new LongAdder();
  private final LongAdder unknown = new LongAdder();
  @GuardedBy("cache") private final Map<String, NamedPrompt> cache = new LinkedHashMap<>(64, 0.75f, true);
  @GuardedBy("cache") private long cachedBlocks;

  /// @param blockTokens tokens of a block
  /// @param cachedBlocks blocks of prompts that are remembered at most, 8 bytes each; each prompt counts 16 more
  /// @param concurrency questions on their way at most; further prompts are not known this way
  /// @param patience time for an answer
  public record Options(int blockTokens, long cachedBlocks, int concurrency, Duration patience) {
    public Options {
      Checks.positive("blockTokens", blockTokens);
      Checks.positive("cachedBlocks", cachedBlocks);
      Checks.positive("concurrency", concurrency);
      Checks.positive("patience", patience);
    }

    /// Defaults for engines of which a block has `blockTokens` tokens.
    public static Options defaults(int blockTokens) {
      return new Options(blockTokens, 1 << 20, 64, Duration.ofMillis(250));
    }
  }

  /// @param timer of the patience
  public EngineTokens(Tokenizer tokenizer, Options options, Scheduler timer) {
    this.tokenizer = tokenizer;
    this.options = options;
    this.timer = timer;
  }

  /// Prompts that the engine was asked about.
  public long asked() {
    return asked.sum();
  }

  /// Prompts that are not known this way: the engine failed, was late, or had too many questions.
  public long unknown() {
    return unknown.sum();
  }

  @Override
  public Mono<NamedPrompt> of(PromptRequest request) {
    return Mono.defer(() -> {
      if (!request.isChat() && !request.prompt().isString()) {
        return Mono.empty();
      }
      ObjectNode question = question(request);
      String key = key(request.root(), question);
      NamedPrompt known = cached(key);
      return known != null ? Mono.just(known) : ask(request, question, key);
    });
  }

  private Mono<NamedPrompt> ask(PromptRequest request, ObjectNode question, String key) {
    if (running.incrementAndGet() > options.concurrency()) {
      running.decrementAndGet();
      unknown.increment();
      return Mono.empty();
    }
    asked.increment();
    return Mono.defer(() -> tokenizer.tokens(question)).timeout(options.patience(), timer)
        .map(tokens -> new NamedPrompt(PromptBlocks.names(request.root(), tokens, options.blockTokens()),
            tokens.length, true))
        .doOnNext(prompt -> remember(key, prompt))
        .onErrorResume(failure -> {
          unknown.increment();
          return Mono.empty();
        })
        .doFinally(signal -> running.decrementAndGet());
  }

  private static ObjectNode question(PromptRequest request) {
    ObjectNode question = JsonNodeFactory.instance.objectNode();
    for (String field : request.isChat() ? CHAT : COMPLETION) {
      JsonNode value = request.body().path(field);
      if (!value.isMissingNode()) {
        question.set(field, value);
      }
    }
    if (!request.isChat()) {
      question.set("prompt", request.prompt());
    }
    return question;
  }

  private static String key(long root, ObjectNode question) {
    try {
      byte[] digest = MessageDigest.getInstance("SHA-256").digest(MAPPER.writeValueAsBytes(question));
      return Long.toHexString(root) + HexFormat.of().formatHex(digest);
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException(e); // each JDK has it
    }
  }

  private @Nullable NamedPrompt cached(String key) {
    synchronized (cache) {
      return cache.get(key);
    }
  }

  private void remember(String key, NamedPrompt prompt) {
    synchronized (cache) {
      NamedPrompt before = cache.put(key, prompt);
      cachedBlocks += weight(prompt) - (before == null ? 0 : weight(before));
      while (cachedBlocks > options.cachedBlocks() && !cache.isEmpty()) {
        Map.Entry<String, NamedPrompt> oldest = cache.entrySet().iterator().next();
        cachedBlocks -= weight(oldest.getValue());
        cache.remove(oldest.getKey());
      }
    }
  }

  private static long weight(NamedPrompt prompt) {
    return prompt.names().length + 16L;
  }
}
