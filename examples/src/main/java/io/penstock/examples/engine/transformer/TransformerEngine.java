package io.penstock.examples.engine.transformer;

import static java.util.Objects.requireNonNull;

import io.penstock.block.BlockKey;
import io.penstock.examples.disaggregated.model.ByteTokenizer;
import io.penstock.examples.disaggregated.model.SpeculativeConfig;
import io.penstock.examples.disaggregated.rank.Decode;
import io.penstock.examples.disaggregated.rank.Instance;
import io.penstock.examples.disaggregated.rank.Pace;
import io.penstock.examples.disaggregated.rank.Prefill;
import io.penstock.examples.disaggregated.rank.PrefillSteps;
import io.penstock.examples.disaggregated.rank.Prefilled;
import io.penstock.examples.disaggregated.rank.Sequence;
import io.penstock.examples.openai.Engine;
import io.penstock.examples.openai.EngineOutput;
import io.penstock.examples.openai.EngineRequest;
import io.penstock.examples.openai.EngineResult;
import io.penstock.operator.LiveTimers;
import io.penstock.system.LiveClock;
import io.penstock.tier.BlockTier;
import io.penstock.wire.PenstockClient;
import io.penstock.wire.PenstockNode;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.BiFunction;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Scheduler;
import reactor.core.scheduler.Schedulers;

/// The transformer as an engine. It loads the longest prefix of a prompt that its own cache, the prefill of the
/// request, or the node has, computes the rest, and stores what is new. Whatever cannot be loaded is computed, so that
/// the tokens are those of [ToyTransformer.Monolith].
public final class TransformerEngine implements Engine {
  private static final Logger LOG = LoggerFactory.getLogger(TransformerEngine.class);
  private static final Duration PATIENCE = Duration.ofSeconds(2);
  /// For the blocks of a request that has ended early.
  private static final Duration LAST_PATIENCE = Duration.ofMillis(300);
  /// A prompt is computed so many tokens at a time; between layers a request may end.
  private static final int CHUNK_TOKENS = 64;

  private final ToyTransformer model;
  private final TransformerOptions options;
  private final Instance instance;
  private final Peers peers;
  private final WaitingPrompts waiting;
  private final LongSupplier nanos = LiveClock.process()::nanos;
  private final Scheduler timers = LiveTimers.of(Schedulers.newSingle("engine-timers", true));
  private final AtomicLong requests = new AtomicLong();
  private final long blocks;
  /// What a prefill keeps, and hands over; null for a decode.
  private final @Nullable Kept kept;

  private record Kept(PenstockNode node, HeldPrompts held, TransferParams place) {}

  /// A request that is not wanted any more, inside a computation.
  private static final class EndedException extends RuntimeException {
    EndedException() {
      super("The request has ended.", null, false, false);
    }
  }

  private TransformerEngine(ToyTransformer model, TransformerOptions options, @Nullable PenstockNode node) {
    this.model = model;
    this.options = options;
    this.instance = new Instance(model.deployment(), options.slots(), model.maxTokens());
    this.peers = new Peers(model.space(), nanos);
    this.waiting = new WaitingPrompts(peers);
    this.blocks = (long) options.slots() * Math.ceilDiv(model.maxTokens(), ToyTransformer.BLOCK_TOKENS)
        + (node == null ? 0 : options.cacheBlocks());
    this.kept = node == null
        ? null
        : new Kept(node, new HeldPrompts(node.tier(), options.claim(), timers),
            place(node.address()));
  }

  private static TransferParams place(String address) {
    int colon = address.lastIndexOf(':');
    return new TransferParams(address.substring(0, colon).replaceAll("[\\[\\]]", ""),
        Integer.parseInt(address.substring(colon + 1)));
  }

  /// Starts an engine.
  ///
  /// @return cold; fails if the engine cannot listen for decodes
  public static Mono<TransformerEngine> start(ToyTransformer model, TransformerOptions options) {
    requireNonNull(model, "model");
    if (!options.role().keepsBlocks()) {
      return Mono.fromSupplier(() -> new TransformerEngine(model, options, null));
    }
    return PenstockNode.start(PenstockNode.Options.of(model.space(), options.cacheBlocks())
        .withAddress(options.host(), 0).withLoops(1)).map(node -> new TransformerEngine(model, options, node));
  }

  /// Where a prefill hands blocks over.
  public Optional<String> address() {
    return Optional.ofNullable(kept).map(each -> each.node().address());
  }

  /// Blocks of prompts that are held for their decodes: those whose decode has not come yet, and those that decodes
  /// have leased.
  public long heldBlocks() {
    return kept == null ? 0 : claimedBlocks() + leasedBlocks(kept.node().tier());
  }

  /// Blocks of prompts whose decode has not come yet.
  int claimedBlocks() {
    return kept == null ? 0 : kept.held().blocks();
  }

  /// A stack answers at once.
  private static long leasedBlocks(BlockTier tier) {
    return tier.stat().map(stat -> stat.holds().leasedBlocks()).onErrorReturn(0L).toFuture().getNow(0L);
  }

  /// Blocks in the memory of requests that are computed.
  public long computedBlocks() {
    return instance.claimedBlocks();
  }

  @Override
  public String model() {
    return model.name();
  }

  @Override
  public int maxTokens() {
    return model.maxTokens();
  }

  @Override
  public int[] encode(String text) {
    return model.text().encode(text);
  }

  @Override
  public byte[] bytes(int token) {
    return model.text().bytes(token);
  }

  @Override
  public double cacheUsage() {
    return (double) (computedBlocks() + heldBlocks()) / blocks;
  }

  /// Leases the blocks that the request will pull, so that the prefill holds them for as long as it waits here.
  @Override
  public Runnable arrived(EngineRequest request) {
    int[] prompt = request.prompt();
    TransferParams.source(request.transfer()).ifPresent(source -> waiting.hold(request, source.address(),
        PromptCache.keys(model.deployment().shards().getFirst(), Arrays.copyOf(prompt, prompt.length - 1))));
    return () -> waiting.release(request);
  }

  @Override
  public EngineResult generate(EngineRequest request, EngineOutput output) throws InterruptedException {
    int[] prompt = request.prompt();
    for (int token : prompt) {
      if (token >= ByteTokenizer.TOKENS) {
        throw new IllegalArgumentException(
            "prompt must have tokens below " + ByteTokenizer.TOKENS + " (was " + token + ")");
      }
    }
    try (Sequence sequence = instance.open(request.id() + " " + requests.incrementAndGet())) {
      return new Turn(request, output, sequence).run();
    } catch (EndedException e) {
      throw new InterruptedException(e.getMessage());
    }
  }

  /// Ends its threads and connections; requests have ended. Lazy and idempotent.
  public Mono<Void> close() {
    Mono<Void> node = kept == null ? Mono.empty() : kept.node().close();
    return peers.close().then(node).onErrorComplete().then(Mono.fromRunnable(() -> {
      timers.dispose();
      instance.close();
    }));
  }

  /// One request.
  private final class Turn {
    private final EngineRequest request;
    private final int[] prompt;
    private final EngineOutput output;
    private final Sequence sequence;
    private final PromptCache cache;
    private final List<Integer> answer = new ArrayList<>();
    private boolean stopped;
    private long due;

    Turn(EngineRequest request, EngineOutput output, Sequence sequence) {
      this.request = request;
      this.prompt = request.prompt();
      this.output = output;
      this.sequence = sequence;
      this.cache = new PromptCache(sequence);
    }

    EngineResult run() throws InterruptedException {
      sequence.workers().getFirst().cache().claim(prompt.length);
      int cached = load() * ToyTransformer.BLOCK_TOKENS;
      waiting.release(request);
      sequence.finish(cached);
      Prefilled prefilled = new Prefill(sequence, Pace.chunks(CHUNK_TOKENS), steps()).run(prompt);
      output.prefilled(cached);
      boolean hands = kept != null && TransferParams.asksForBlocks(request.transfer());
      int held = hands ? keep(prompt) : 0;
      due = nanos.getAsLong();
      decode(prefilled);
      if (!hands) {
        store(PATIENCE);
      }
      return new EngineResult(stopped ? EngineResult.Reason.STOP : EngineResult.Reason.LENGTH,
          hands && kept != null ? kept.place().answer(kept.place().address(), request.id(), held) : null);
    }

    /// A request that ends early, for instance at a stop in the text, still leaves its blocks for the next turn.
    private void decode(Prefilled prefilled) throws InterruptedException {
      try {
        Decode.stream(sequence, SpeculativeConfig.NONE, prompt.length, prefilled, request.maxTokens(), this::next);
      } catch (EndedException e) {
        Thread.interrupted(); // or nothing could be stored
        store(LAST_PATIENCE);
        throw e;
      }
    }

    private PrefillSteps steps() {
      return new PrefillSteps() {
        @Override
        public void layer(int layer) {
          requireWanted();
        }
      };
    }

    private static void requireWanted() {
      if (Thread.currentThread().isInterrupted()) {
        throw new EndedException();
      }
    }

    /// Loads whole blocks, but never the last token, which has to be computed.
    private int load() throws InterruptedException {
      List<BlockKey> keys = cache.keys(Arrays.copyOf(prompt, prompt.length - 1));
      int have = keys.isEmpty() || kept == null || !options.reuse() ? 0 : own(keys);
      Optional<TransferParams> source = TransferParams.source(request.transfer());
      if (source.isPresent()) {
        int there = have;
        have +=
            more(keys, have, source.get().address(), (client, missing) -> cache.load(client.tier(), missing, there));
      }
      return options.node() == null || !options.reuse() ? have : shared(keys, have, options.node());
    }

    /// What the node that all engines share has, or is just being given: a turn often begins before the last one is
    /// stored.
    private int shared(List<BlockKey> keys, int have, String node) throws InterruptedException {
      return have + more(keys, have, node, (client, missing) -> cache.load(inSession(client), missing, have));
    }

    private PenstockClient inSession(PenstockClient client) {
      return client.inSession(request.session(), options.pendingWait());
    }

    private int own(List<BlockKey> keys) throws InterruptedException {
      try {
        return Waits.await(cache.load(requireNonNull(kept).node().tier(), keys, 0), PATIENCE).orElse(0);
      } catch (Waits.FailedException e) {
        LOG.warn("computing the whole prompt of {}", request.id(), e);
        return 0;
      }
    }

    private int more(List<BlockKey> keys, int have, String node,
        BiFunction<PenstockClient, List<BlockKey>, Mono<Integer>> load) throws InterruptedException {
      List<BlockKey> missing = keys.subList(have, keys.size());
      return missing.isEmpty() ? 0 : peers.use(node, PATIENCE, client -> load.apply(client, missing), 0);
    }

    /// Puts the blocks of the prompt into the own tier.
    ///
    /// @return number of blocks that are held for a decode
    private int keep(int[] tokens) throws InterruptedException {
      List<BlockKey> keys = cache.keys(tokens);
      Kept own = requireNonNull(kept);
      try {
        return keys.isEmpty()
            ? 0
            : Waits.await(cache.store(own.node().tier(), keys).then(own.held().hold(keys)),
                PATIENCE).orElse(0);
      } catch (Waits.FailedException e) {
        LOG.warn("prompt of {} is not kept", request.id(), e);
        return 0;
      }
    }

    /// Takes the next token; returns whether to go on.
    private boolean next(int token) {
      requireWanted();
      if ((token == ByteTokenizer.END && !request.ignoreEnd()) || request.stopTokens().contains(token)) {
        stopped = true;
        return false;
      }
      pace();
      answer.add(token);
      output.token(token);
      return true;
    }

    private void pace() {
      due += options.tokenTime().toNanos();
      for (long left = due - nanos.getAsLong(); left > 0; left = due - nanos.getAsLong()) {
        LockSupport.parkNanos(left);
        requireWanted();
      }
    }

    /// Stores the whole blocks of the prompt and of the answer, whose last token was not computed.
    private void store(Duration patience) throws InterruptedException {
      int[] tokens = Arrays.copyOf(prompt, prompt.length + Math.max(0, answer.size() - 1));
      for (int i = prompt.length; i < tokens.length; i++) {
        tokens[i] = answer.get(i - prompt.length);
      }
      List<BlockKey> keys = cache.keys(tokens);
      if (keys.isEmpty()) {
        return;
      }
      if (kept != null) {
        try {
          Waits.await(cache.store(kept.node().tier(), keys), patience);
        } catch (Waits.FailedException e) {
          LOG.warn("answer of {} is not kept", request.id(), e);
        }
      }
      if (options.node() != null) {
        peers.use(options.node(), patience, client -> cache.store(inSession(client), keys), 0L);
      }
    }
  }
}
