package io.penstock.examples.engine.transformer;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/// Settings of an engine.
///
/// @param host where it hands blocks over, at a free port
/// @param node where all engines keep blocks, as `host:port`; null for none
/// @param slots requests that are computed side by side
/// @param cacheBlocks blocks of earlier prompts that a prefill keeps
/// @param claim how long a prefill holds the blocks of an answer until its decode has leased them
/// @param reuse whether it looks for blocks of earlier prompts; without, only a prefill hands over blocks
/// @param tokenTime least time of a generated token: a larger model takes longer
/// @param pendingWait how long a request waits for blocks of its prompt that another engine is just storing in the node
public record TransformerOptions(EngineRole role, String host, @Nullable String node, int slots, int cacheBlocks,
    boolean reuse, Duration claim, Duration tokenTime, Duration pendingWait) {
  public TransformerOptions {
    requireNonNull(role, "role");
    requireNonNull(host, "host");
    Checks.positive("slots", slots);
    Checks.positive("cacheBlocks", cacheBlocks);
    Checks.positive("claim", claim);
    Checks.notNegative("tokenTime", tokenTime);
    Checks.notNegative("pendingWait", pendingWait);
  }

  /// At 127.0.0.1, with 4 slots, 4,096 blocks, a claim of 500 ms, and a wait of 250 ms for pending blocks.
  public static TransformerOptions of(EngineRole role, @Nullable String node) {
    return new TransformerOptions(role, "127.0.0.1", node, 4, 4_096, true, Duration.ofMillis(500), Duration.ZERO,
        Duration.ofMillis(250));
  }

  public TransformerOptions withHost(String newHost) {
    return new TransformerOptions(role, newHost, node, slots, cacheBlocks, reuse, claim, tokenTime, pendingWait);
  }

  public TransformerOptions withSlots(int newSlots) {
    return new TransformerOptions(role, host, node, newSlots, cacheBlocks, reuse, claim, tokenTime, pendingWait);
  }

  public TransformerOptions withCacheBlocks(int blocks) {
    return new TransformerOptions(role, host, node, slots, blocks, reuse, claim, tokenTime, pendingWait);
  }

  public TransformerOptions withTokenTime(Duration time) {
    return new TransformerOptions(role, host, node, slots, cacheBlocks, reuse, claim, time, pendingWait);
  }

  public TransformerOptions withPendingWait(Duration wait) {
    return new TransformerOptions(role, host, node, slots, cacheBlocks, reuse, claim, tokenTime, wait);
  }

  public TransformerOptions withClaim(Duration time) {
    return new TransformerOptions(role, host, node, slots, cacheBlocks, reuse, time, tokenTime, pendingWait);
  }

  public TransformerOptions withReuse(boolean on) {
    return new TransformerOptions(role, host, node, slots, cacheBlocks, on, claim, tokenTime, pendingWait);
  }
}
