package io.penstock.disagg.request;

import io.penstock.block.BlockCorruptException;
import io.penstock.disagg.request.AuxData.AuxMismatchException;
import io.penstock.disagg.request.MoveFailure.MoveTimeoutException;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeoutException;

/// What became of one block of a request on the receiving side. Of several shards of a block the later constant wins.
public enum BlockOutcome {
  /// All its bytes have landed and were verified.
  HIT,
  /// Its source does not have it, or failed to send it.
  MISS,
  /// It did not come in time.
  TIMEOUT,
  /// Its request was cancelled before it had come.
  CANCELLED,
  /// Its bytes differ from their checksum.
  CORRUPT;

  /// What `cause` makes of the blocks of a move that ended by it.
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
