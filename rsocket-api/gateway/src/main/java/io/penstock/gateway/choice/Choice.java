package io.penstock.gateway.choice;

import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/// The instances of one request. What it charges them is given back in steps: the prompt is computed ([#computed]), its
/// KV cache has left the prefill ([#handedOver]), the request ended ([#close]). A later step includes those before it;
/// each is idempotent and may come from any thread.
public final class Choice implements AutoCloseable {
  private static final int CHARGED = 0;
  private static final int COMPUTED = 1;
  private static final int HANDED_OVER = 2;
  private static final int CLOSED = 3;

  private final Router router;
  private final Prompt prompt;
  private final Candidate prefill;
  private final Candidate decode;
  private final double lackingTokens;
  private final int overlapBlocks;
  private final @Nullable Source source;
  private final AtomicInteger step = new AtomicInteger(CHARGED);

  /// The instance that has most of the prompt, to take blocks from.
  ///
  /// @param blocks leading blocks of the prompt that it has
  public record Source(int instance, String name, int blocks) {}

  Choice(Router router, Prompt prompt, Candidate prefill, Candidate decode, double lackingTokens, int overlapBlocks,
      @Nullable Source source) {
    this.router = router;
    this.prompt = prompt;
    this.prefill = prefill;
    this.decode = decode;
    this.lackingTokens = lackingTokens;
    this.overlapBlocks = overlapBlocks;
    this.source = source;
    router.charge(this, 1);
    router.hold(this, 1);
    router.decode(this, 1);
  }

  /// Number of the instance that computes the prompt.
  public int prefill() {
    return prefill.number;
  }

  /// Number of the instance that generates.
  public int decode() {
    return decode.number;
  }

  /// Leading blocks of the prompt that the prefill is known to have, or expected to.
  public int overlapBlocks() {
    return overlapBlocks;
  }

  /// The instance that has most of the prompt; null if none has any of it.
  public @Nullable Source source() {
    return source;
  }

  /// The prefill computed the prompt.
  public void computed() {
    reach(COMPUTED);
  }

  /// The decode has the KV cache, and the prefill need not keep it.
  public void handedOver() {
    reach(HANDED_OVER);
  }

  @Override
  public void close() {
    reach(CLOSED);
  }

  private void reach(int wanted) {
    int before = step.getAndUpdate(at -> Math.max(at, wanted));
    if (before < COMPUTED && wanted >= COMPUTED) {
      router.charge(this, -1);
    }
    if (before < HANDED_OVER && wanted >= HANDED_OVER) {
      router.hold(this, -1);
    }
    if (before < CLOSED && wanted >= CLOSED) {
      router.decode(this, -1);
    }
  }

  Prompt prompt() {
    return prompt;
  }

  Candidate prefillCandidate() {
    return prefill;
  }

  Candidate decodeCandidate() {
    return decode;
  }

  double lackingTokens() {
    return lackingTokens;
  }

  double score() {
    return prompt.bytes() / 4.0 * 0.0345 + 120.0745;
  }
}
