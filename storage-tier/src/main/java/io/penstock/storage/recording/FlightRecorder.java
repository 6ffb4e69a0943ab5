package io.penstock.storage.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.Script;
import io.penstock.storage.engine.SegmentEngine;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.LongSupplier;

/// Keeps what happened last in memory, and writes it as a recording when something went wrong.
///
/// While its memory has room for all events from the opening of the tiers on, it keeps all of them, and what it saves
/// can be played. Later it keeps the newest ones; what it saves then begins with a gap: it can be read, and is refused
/// for play. Bytes of blocks are not kept.
public final class FlightRecorder implements Script, AutoCloseable {
  /// Number of the first event behind the one that says what was recorded.
  private static final long FIRST = 1;
  private static final long LEAST_SEGMENT_BYTES = 2 << 20;
  /// A record takes at most this part of a file.
  private static final int RECORDS = 8;
  private static final int MOST_PAGE_BYTES = 1 << 20;

  private final Path folder;
  private final Options options;
  private final String configuration;
  private final LongSupplier nanos;
  private final EventPages pages;
  private final ReentrantLock saving = new ReentrantLock();
  private int saved;

  /// What a flight recorder keeps.
  ///
  /// @param mostBytes of memory; twice as many while it is saved
  /// @param mostAge of the events that are saved, once the beginning is gone
  public record Options(long mostBytes, Duration mostAge) {
    private static final long LEAST_BYTES = 1 << 20;

    public Options {
      Checks.positive("mostAge", mostAge.toMillis());
      if (mostBytes < LEAST_BYTES) {
        throw new IllegalArgumentException("mostBytes must be >= " + LEAST_BYTES + " (was " + mostBytes + ")");
      }
    }

    /// 64 MiB and 60 seconds.
    public static Options defaults() {
      return new Options(64L << 20, Duration.ofSeconds(60));
    }

    public Options withMostBytes(long bytes) {
      return new Options(bytes, mostAge);
    }

    public Options withMostAge(Duration age) {
      return new Options(mostBytes, age);
    }
  }

  /// @param nanos clock by which events grow old
  FlightRecorder(Path folder, Options options, String configuration, LongSupplier nanos) {
    this.folder = requireNonNull(folder, "folder");
    this.options = requireNonNull(options, "options");
    this.configuration = requireNonNull(configuration, "configuration");
    this.nanos = nanos;
    this.pages = new EventPages(new EventPages.Bounds(options.mostBytes(), true, false),
        MOST_PAGE_BYTES, FIRST, nanos);
  }

  /// Begins to keep events.
  ///
  /// @param folder that gets a folder for each recording that is saved
  /// @param configuration of the process, as JSON; empty for none. It must hold no secret.
  public static FlightRecorder begin(Path folder, Options options, String configuration) {
    return new FlightRecorder(folder, options, configuration, System::nanoTime);
  }

  @Override
  public void add(RecordedEvent event) {
    pages.add(event);
  }

  @Override
  public boolean hasEnded() {
    return pages.isClosed();
  }

  /// Bytes of memory that have events.
  long bytes() {
    return pages.used();
  }

  /// Writes what is kept, and keeps it. Waits for the disk and for a save that is under way; never call it in a turn.
  ///
  /// @param reason why, for the reader of the recording
  /// @return the folder of the recording
  public Path save(String reason) {
    long wallMillis = System.currentTimeMillis();
    saving.lock();
    try {
      if (pages.isClosed()) {
        throw new IllegalStateException("flight recorder must be open (was closed)");
      }
      Path to = folder.resolve("recording-%d-%d".formatted(wallMillis, ++saved));
      List<EventPages.Filled> all = pages.takeAll();
      try {
        write(to, RecordedEvent.began(wallMillis, reason, configuration), recent(all));
      } finally {
        pages.putBack(all);
      }
      return to;
    } finally {
      saving.unlock();
    }
  }

  /// The pages that are not too old; all of them if none is missing before.
  private List<EventPages.Filled> recent(List<EventPages.Filled> all) {
    if (all.isEmpty() || all.getFirst().first() == FIRST) {
      return all;
    }
    int from = 0;
    while (from + 1 < all.size() && nanos.getAsLong() - all.get(from + 1).since() > options.mostAge().toNanos()) {
      from++; // its last event is older than the first of the next
    }
    return all.subList(from, all.size());
  }

  private static void write(Path to, RecordedEvent began, List<EventPages.Filled> recent) {
    long bytes = recent.stream().mapToLong(EventPages.Filled::bytes).sum();
    long longest = recent.stream().mapToLong(EventPages.Filled::bytes).max().orElse(0);
    long segmentBytes = Math.max(Math.max(LEAST_SEGMENT_BYTES, longest * RECORDS), bytes + bytes / RECORDS);
    try (SegmentEngine engine = RecordingWriter.engine(to, segmentBytes)) {
      EventPages head = new EventPages(new EventPages.Bounds(Options.LEAST_BYTES, false, false),
          engine.maxRecordBytes(), 0, System::nanoTime);
      head.add(began);
      head.takeAll().forEach(page -> {
        engine.append(page.seal());
        page.free();
      });
      recent.forEach(page -> engine.append(page.seal()));
      engine.sync();
    }
  }

  /// Ends the keeping; nothing is saved.
  @Override
  public void close() {
    saving.lock();
    try {
      pages.close();
      pages.free();
    } finally {
      saving.unlock();
    }
  }
}
