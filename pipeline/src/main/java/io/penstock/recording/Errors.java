package io.penstock.recording;

import io.penstock.TransientKvException;
import io.penstock.block.BlockCorruptException;
import io.penstock.block.BlockKey;
import io.penstock.tier.TierClosedException;
import io.penstock.tier.spi.StoreBusyException;
import io.penstock.tier.spi.StoreUnavailableException;
import java.util.List;
import reactor.core.publisher.Mono;

/// Errors in a recording: their text, and those of stores, which a tier tells apart, as errors again.
final class Errors {
  private Errors() {}

  /// Name and message of `error`, equal for an error of a store and what is played for it.
  static String text(Throwable error) {
    return error instanceof Played played
        ? String.valueOf(played.getMessage())
        : error.getClass().getSimpleName() + ": " + error.getMessage();
  }

  /// What a tier must know of the failure of a store: 1 busy, 2 unavailable, 3 corrupt, 4 closed, 0 any other.
  static RecordedEvent of(RecordedEvent failed, Throwable error) {
    long store = failed.number(0);
    long operation = failed.number(1);
    RecordedEvent told = failed.with(text(error));
    return switch (error) {
      case StoreBusyException _ -> told.with(store, operation, 1);
      case StoreUnavailableException _ -> told.with(store, operation, 2);
      case BlockCorruptException corrupt -> told
          .with(store, operation, 3, corrupt.granule(), corrupt.expected(), corrupt.actual())
          .with(corrupt.key()).with(text(error) + '\n' + corrupt.boundary());
      case TierClosedException _ -> told.with(store, operation, 4);
      default -> told.with(store, operation, 0);
    };
  }

  /// The error of a `STORE_FAILED` event.
  ///
  /// @param room completes when a busy store has room
  static Throwable played(RecordedEvent failed, Mono<Void> room, String store) {
    String text = failed.text();
    List<BlockKey> keys = failed.keys();
    return switch ((int) failed.number(2)) {
      case 1 -> new StoreBusyException(message(text), room);
      case 2 -> new StoreUnavailableException(message(text));
      case 3 -> new BlockCorruptException(text.substring(text.lastIndexOf('\n') + 1), keys.getFirst(),
          (int) failed.number(3), (int) failed.number(4), (int) failed.number(5));
      case 4 -> new TierClosedException(store);
      default -> new Played(text);
    };
  }

  private static String message(String text) {
    return text.substring(text.indexOf(": ") + 2);
  }

  /// An error of a store of which a tier knows the text alone.
  static final class Played extends TransientKvException {
    Played(String text) {
      super(text);
    }
  }
}
