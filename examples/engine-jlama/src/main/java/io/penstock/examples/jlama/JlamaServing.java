package io.penstock.examples.jlama;

import com.github.tjake.jlama.safetensors.prompt.PromptSupport;
import io.penstock.examples.openai.ChatMessage;
import io.penstock.examples.openai.Engine;
import io.penstock.examples.openai.EngineOutput;
import io.penstock.examples.openai.EngineRequest;
import io.penstock.examples.openai.EngineResult;
import io.penstock.examples.openai.EngineResult.Reason;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/// Jlama behind an OpenAI endpoint. What a request computes, prompt and answer, is in the node when its answer ends, so
/// the next turn finds it, whichever engine it goes to.
final class JlamaServing implements Engine {
  /// Longest wait for blocks of a prompt that another engine is just storing.
  private static final Duration PENDING_WAIT = Duration.ofMillis(250);

  /// What an engine is there for.
  enum Role {
    /// Computes prompts, and answers one token.
    PREFILL,
    /// Continues prompts that others have computed; one that the node lacks is computed here.
    DECODE,
    /// Does both.
    BOTH
  }

  private final JlamaEngine engine;
  private final JlamaCache cache;
  private final Role role;
  private final String node;
  private final long rows;
  private final Pieces pieces;
  private final AtomicLong openTokens = new AtomicLong();

  /// @param node where the blocks are, as `host:port`
  /// @param slots requests that run side by side
  JlamaServing(JlamaEngine engine, JlamaCache cache, Role role, String node, int slots) {
    this.engine = engine;
    this.cache = cache;
    this.role = role;
    this.node = node;
    this.rows = (long) slots * engine.context();
    this.pieces = new Pieces(engine.model().getTokenizer().getModel());
  }

  @Override
  public String model() {
    return engine.name();
  }

  @Override
  public int maxTokens() {
    return engine.context();
  }

  @Override
  public int[] encode(String text) {
    return engine.encode(text);
  }

  /// By the model's own template, where it has one.
  @Override
  public int[] encode(List<ChatMessage> messages) {
    Optional<PromptSupport> template = engine.model().promptSupport();
    if (template.isEmpty()) {
      return Engine.super.encode(messages);
    }
    PromptSupport.Builder prompt = template.orElseThrow().builder();
    for (ChatMessage message : messages) {
      switch (message.role()) {
        case "system", "developer" -> prompt.addSystemMessage(message.text());
        case "assistant" -> prompt.addAssistantMessage(message.text());
        default -> prompt.addUserMessage(message.text());
      }
    }
    return engine.encode(prompt.build().getPrompt());
  }

  @Override
  public byte[] bytes(int token) {
    return pieces.bytes(token);
  }

  @Override
  public double cacheUsage() {
    return Math.min(1, (double) openTokens.get() / rows);
  }

  @Override
  public EngineResult generate(EngineRequest request, EngineOutput output) throws InterruptedException {
    if (role == Role.PREFILL && request.maxTokens() > 1) {
      throw new IllegalArgumentException("max_tokens must be 1 for an engine of role prefill (was "
          + request.maxTokens() + ")");
    }
    int tokens = request.prompt().length + request.maxTokens();
    openTokens.addAndGet(tokens);
    try (JlamaSession session = engine.session(tokens)) {
      return generate(session, request, output);
    } catch (CancellationException e) {
      if (Thread.interrupted()) {
        throw new InterruptedException(e.getMessage());
      }
      throw e;
    } finally {
      openTokens.addAndGet(-tokens);
    }
  }

  private EngineResult generate(JlamaSession session, EngineRequest request, EngineOutput output)
      throws InterruptedException {
    JlamaCache own = new JlamaCache(cache.client().inSession(request.session(), PENDING_WAIT), cache.sender(),
        cache.patience());
    JlamaCache.Prefilled prefilled = own.prefill(session, request.prompt());
    CompletableFuture<@Nullable Long> storing = prefilled.stored();
    try {
      output.prefilled(prefilled.loaded());
      int[] all = Arrays.copyOf(request.prompt(), request.prompt().length + request.maxTokens());
      Reason reason = answer(session, all, prefilled.next(), request, output);
      await(storing);
      storing = own.offload(session, Arrays.copyOf(all, session.tokens()));
      await(storing);
      return new EngineResult(reason, transfer(request, session.tokens()));
    } finally {
      storing.cancel(true); // then no row is read any more, and the session may close
    }
  }

  private Reason answer(JlamaSession session, int[] all, int first, EngineRequest request, EngineOutput output)
      throws InterruptedException {
    int next = first;
    for (int at = request.prompt().length;; at++) {
      if (request.stopTokens().contains(next) || (!request.ignoreEnd() && engine.isEnd(next))) {
        return Reason.STOP;
      }
      output.token(next);
      all[at] = next;
      if (at + 1 == all.length) {
        return Reason.LENGTH;
      }
      if (Thread.interrupted()) {
        throw new InterruptedException("The client has gone.");
      }
      next = session.forward(next);
    }
  }

  private static void await(CompletableFuture<@Nullable Long> storing) throws InterruptedException {
    try {
      storing.get();
    } catch (ExecutionException e) { // which the adapter has logged
      throw new IllegalStateException(e.getCause());
    }
  }

  /// Tells the engine that decodes, in the words of the NIXL connector, where the blocks are.
  private @Nullable JsonNode transfer(EngineRequest request, int tokens) {
    if (request.transfer() == null || !request.transfer().path("do_remote_decode").asBoolean(false)) {
      return null;
    }
    int port = node.lastIndexOf(':');
    ObjectNode transfer = JsonNodeFactory.instance.objectNode().put("do_remote_prefill", true)
        .put("do_remote_decode", false).put("remote_engine_id", engine.space().publicId())
        .put("remote_host", node.substring(0, port)).put("remote_port", Integer.parseInt(node.substring(port + 1)));
    int blocks = tokens / JlamaEngine.BLOCK_TOKENS;
    for (int block = 0; block < blocks; block++) {
      transfer.withArray("remote_block_ids").add(block);
    }
    return transfer;
  }
}
