package io.penstock.storage;

import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import reactor.util.Logger;
import reactor.util.Loggers;

/// Says in the log, again and again, that an opening has not ended: its disk may not answer.
final class OpeningWatch implements AutoCloseable {
  private static final Logger LOG = Loggers.getLogger(OpeningWatch.class);

  private final ScheduledExecutorService clock;
  private final ScheduledFuture<?> lines;

  private OpeningWatch(ScheduledExecutorService clock, ScheduledFuture<?> lines) {
    this.clock = clock;
    this.lines = lines;
  }

  static OpeningWatch begin(JournalOptions options) {
    ScheduledExecutorService clock = JournalThreads.timed(options.name() + "-opening", 1);
    long began = System.nanoTime();
    long millis = options.health().stallAfter().toMillis();
    return new OpeningWatch(clock, clock.scheduleAtFixedRate(() -> LOG.warn(
        "store {} has been opening {} for {} s: it reads a large journal without checkpoints, or its disk "
            + "does not answer",
        options.name(), options.directory(), TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - began)), millis, millis,
        TimeUnit.MILLISECONDS));
  }

  @Override
  public void close() {
    lines.cancel(false);
    clock.shutdownNow();
  }
}
