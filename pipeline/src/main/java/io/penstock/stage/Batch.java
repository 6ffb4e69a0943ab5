package io.penstock.stage;

import static java.util.Objects.requireNonNull;

import io.penstock.block.Block;
import io.penstock.check.Checks;
import java.time.Duration;
import java.util.List;
import java.util.function.ToLongFunction;
import reactor.core.scheduler.Scheduler;

/// Gathers elements into lists. A list ends when it reaches a count, a number of bytes, or an age.
///
/// | | |
/// |---|---|
/// | order | of the source; no list is empty |
/// | backpressure | batches; elements are requested one by one, while a batch is wanted: prefetch 0 |
/// | holds | one batch under construction, within `maxCount` and `maxBytes`, and one element that did not fit |
/// | delay | from the arrival of a batch's first element; a batch due without demand goes out on the next request |
/// | threads | the source's, the timer's for a batch that is due, or the requesting thread |
/// | cancel | drops the batch under construction; the scope that owns its elements frees them |
/// | signals | an error of the source at once, without the batch under construction; completion after the last batch |
///
/// Reactor's `bufferTimeout` counts no bytes, and overflows without its fair mode (reactor-core #1557, #3012).
public final class Batch {
  private Batch() {}

  /// @param weigher bytes of an element; always the same for one element
  /// @param timer clock and thread of the delay
  public static <T> Stage<T, List<T>> of(Options options, ToLongFunction<? super T> weigher, Scheduler timer) {
    requireNonNull(options, "options");
    requireNonNull(weigher, "weigher");
    requireNonNull(timer, "timer");
    return source -> new BatchFlux<>(source, options, weigher, timer);
  }

  /// Batches of blocks, weighed by their size.
  public static Stage<Block, List<Block>> blocks(Options options, Scheduler timer) {
    return of(options, block -> block.layout().blockBytes(), timer);
  }

  /// The limits of a batch: [Batch] ends it at the first one reached.
  ///
  /// @param maxCount most elements
  /// @param maxBytes most bytes; a heavier element makes a batch alone
  /// @param maxDelay longest time from the arrival of a batch's first element until the batch is due
  public record Options(int maxCount, long maxBytes, Duration maxDelay) {
    public Options {
      Checks.positive("maxCount", maxCount);
      Checks.positive("maxBytes", maxBytes);
      Checks.positive("maxDelay", maxDelay);
    }

    /// 64 elements, 1 MiB, 1 ms: enough bytes to pay for a hop between threads.
    public static Options defaults() {
      return new Options(64, 1L << 20, Duration.ofMillis(1));
    }

    public Options withMaxCount(int maxCount) {
      return new Options(maxCount, maxBytes, maxDelay);
    }

    public Options withMaxBytes(long maxBytes) {
      return new Options(maxCount, maxBytes, maxDelay);
    }

    public Options withMaxDelay(Duration maxDelay) {
      return new Options(maxCount, maxBytes, maxDelay);
    }
  }
}
