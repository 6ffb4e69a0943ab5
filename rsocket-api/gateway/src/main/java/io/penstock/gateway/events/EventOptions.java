package io.penstock.gateway.events;

import io.penstock.check.Checks;
import java.time.Duration;

/// Options of [EventSubscriber].
///
/// @param blockTokens tokens of a block that has a name, see [io.penstock.gateway.choice.Prompt#blockTokens]
/// @param blocks of a publisher that are kept at most, and as many again of which only the name is kept; 250 bytes each
/// @param highWater messages of a publisher that wait at most; it misses further ones, which are replayed
/// @param messageBytes of a message at most; a publisher that sends a larger one is disconnected
/// @param replayPatience time without an answer after which a replay is given up
/// @param idle time without a message after which a publisher is asked for what may be missing
public record EventOptions(int blockTokens, int blocks, int highWater, long messageBytes, Duration replayPatience,
    Duration idle) {
  public EventOptions {
    Checks.positive("blockTokens", blockTokens);
    Checks.positive("blocks", blocks);
    Checks.positive("highWater", highWater);
    Checks.positive("messageBytes", messageBytes);
    Checks.positive("replayPatience", replayPatience);
    Checks.positive("idle", idle);
  }

  /// Defaults for engines of which a block has `blockTokens` tokens.
  public static EventOptions defaults(int blockTokens) {
    return new EventOptions(blockTokens, 1 << 20, 100_000, 64 << 20, Duration.ofSeconds(5), Duration.ofSeconds(5));
  }

  public EventOptions withBlocks(int blocks) {
    return new EventOptions(blockTokens, blocks, highWater, messageBytes, replayPatience, idle);
  }

  public EventOptions withHighWater(int highWater) {
    return new EventOptions(blockTokens, blocks, highWater, messageBytes, replayPatience, idle);
  }

  public EventOptions withTimes(Duration replayPatience, Duration idle) {
    return new EventOptions(blockTokens, blocks, highWater, messageBytes, replayPatience, idle);
  }
}
