package io.penstock.disagg.request;

import io.penstock.block.BlockCorruptException;
import io.penstock.disagg.request.AuxData.AuxMismatchException;
import io.penstock.disagg.request.MoveFailure.MoveTimeoutException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

/// Outcome of one block of a request on the receiving side. If shards of a block differ, the later constant wins.
public enum BlockOutcome {
  /// All its bytes have landed and were verified.
  HIT,
  /// Its source does not have it, or failed to send it.
  MISS,
  /// The block did not arrive in time.
  TIMEOUT,
  /// The request was cancelled before the block arrived.
  CANCELLED,
  /// Its bytes differ from their checksum.
  CORRUPT;

  /// Outcome of the blocks of a move that ended with `cause`.
  static BlockOutcome of(Throwable cause) {
    return switch (cause) {
      case BlockCorruptException corrupt -> CORRUPT;
      case AuxMismatchException corrupt -> CORRUPT;
      case TimeoutException late -> TIMEOUT;
      case MoveTimeoutException late -> TIMEOUT;
      case CancellationException left -> CANCELLED;
      default -> MISS;
    };
  }

  BlockOutcome worse(BlockOutcome other) {
    return compareTo(other) >= 0 ? this : other;
  }
}
