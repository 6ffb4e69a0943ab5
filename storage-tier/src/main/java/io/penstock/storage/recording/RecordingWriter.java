package io.penstock.storage.recording;

import static java.util.Objects.requireNonNull;

import io.penstock.check.Checks;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.Script;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import reactor.core.Disposable;
import reactor.core.Disposables;

/// Writes a recording to a folder, through Chronicle Queue, on a thread of its own.
///
/// [#add] never waits: it encodes an event into native memory. If the disk does not keep up, events are left out, and a
/// *gap* shows how many: a recording is played up to its first gap. With [WhenFull#WAIT] demand and new calls of
/// tiers and flows are withheld instead; messages of links never wait. The newest files are kept, up to the bytes and
/// the age that the options allow.
public final class RecordingWriter implements Script, AutoCloseable {
  /// File that makes a folder a recording.
  static final String MARK = "recording";
  static final String FORMAT_NAME = "penstock recording, format ";
  static final String FORMAT = FORMAT_NAME + "1\n";
  private static final Logger LOG = LoggerFactory.getLogger(RecordingWriter.class);
  /// Events wait no longer than this for more of their page.
  private static final long PAGE_NANOS = 50_000_000;
  private static final long MIN_WAITING_BYTES = 1 << 20;
  /// A file is ended after this part of the greatest age.
  private static final int FILES_OF_AGE = 8;
  private static final long DEMAND_THREAD_SECONDS = 5;

  private final SegmentEngine engine;
  private final Options options;
  private final LongSupplier nanos;
  private final EventPages pages;
  private final Thread thread;
  /// Passes on what was withheld.
  private final ThreadPoolExecutor demand;
  // Used by the thread
  private final ArrayDeque<Segment> segments = new ArrayDeque<>();
  private long written;
  private boolean failing;
  private boolean keepingTooMuch;
  private boolean toldOfMissed;
  private volatile long unwritten;

  /// A file of the recording.
  private static final class Segment {
    private final int number;
    private final long began;
    private long last;

    Segment(int number, long now) {
      this.number = number;
      this.began = now;
      this.last = now;
    }
  }

  /// What happens while the disk does not keep up.
  public enum WhenFull {
    /// Events are left out, counted, and shown as a gap: nothing that is recorded ever waits.
    DROP,
    /// Demand and new calls of tiers and flows are withheld until there is room.
    WAIT
  }

  /// Bounds of a recording, and what it keeps.
  ///
  /// @param segmentBytes of a file
  /// @param mostBytes of all files; the oldest ones go
  /// @param mostAge of the events in a file; older files go
  /// @param waitingBytes of memory for what waits for the disk
  /// @param payloads whether the bytes of committed blocks are kept
  /// @param whenFull what happens while the disk does not keep up
  public record Options(long segmentBytes, long mostBytes, Duration mostAge, long waitingBytes, boolean payloads,
      WhenFull whenFull) {
    /// Without a bound on the age.
    public static final Duration ANY_AGE = Duration.ofDays(36_500);

    public Options {
      Checks.positive("mostAge", mostAge.toMillis());
      requireNonNull(whenFull, "whenFull");
      if (mostBytes < 2 * segmentBytes) {
        throw new IllegalArgumentException(
            "mostBytes must be >= 2 segments of " + segmentBytes + " bytes (was " + mostBytes + ")");
      }
      if (waitingBytes < MIN_WAITING_BYTES) {
        throw new IllegalArgumentException(
            "waitingBytes must be >= " + MIN_WAITING_BYTES + " (was " + waitingBytes + ")");
      }
    }

    /// Files of 64 MiB, 8 GiB in all, of any age, without payloads; at most 32 MiB of events wait, more are left
    /// out.
    public static Options defaults() {
      return new Options(64L << 20, 8L << 30, ANY_AGE, 32L << 20, false, WhenFull.DROP);
    }

    public Options withSegmentBytes(long bytes) {
      return new Options(bytes, mostBytes, mostAge, waitingBytes, payloads, whenFull);
    }

    public Options withMostBytes(long bytes) {
      return new Options(segmentBytes, bytes, mostAge, waitingBytes, payloads, whenFull);
    }

    public Options withMostAge(Duration age) {
      return new Options(segmentBytes, mostBytes, age, waitingBytes, payloads, whenFull);
    }

    public Options withWaitingBytes(long bytes) {
      return new Options(segmentBytes, mostBytes, mostAge, bytes, payloads, whenFull);
    }

    public Options withPayloads(boolean kept) {
      return new Options(segmentBytes, mostBytes, mostAge, waitingBytes, kept, whenFull);
    }

    public Options withWhenFull(WhenFull choice) {
      return new Options(segmentBytes, mostBytes, mostAge, waitingBytes, payloads, choice);
    }
  }

  /// @param nanos clock by which files grow old
  RecordingWriter(SegmentEngine engine, Options options, LongSupplier nanos) {
    this.engine = engine;
    this.options = options;
    this.nanos = nanos;
    boolean waits = options.whenFull() == WhenFull.WAIT;
    this.pages = new EventPages(new EventPages.Bounds(options.waitingBytes(), false, waits), engine.maxRecordBytes(), 0,
        System::nanoTime);
    this.demand = new ThreadPoolExecutor(1, 1, DEMAND_THREAD_SECONDS, TimeUnit.SECONDS, new LinkedBlockingQueue<>(),
        work -> Thread.ofPlatform().name("penstock-recording-demand").daemon().unstarted(work));
    demand.allowCoreThreadTimeOut(true);
    this.thread = Thread.ofPlatform().name("penstock-recording").daemon().start(this::write);
  }

  /// Begins a recording in `folder`, which is made if it is not there and must be empty. Its first event says what
  /// records, where, and when.
  ///
  /// @param configuration of the process, as JSON; empty for none. It must hold no secret.
  /// @throws io.penstock.storage.engine.EngineFailure.DirectoryLockedException if another process writes it
  public static RecordingWriter begin(Path folder, Options options, String configuration) {
    RecordedEvent began = RecordedEvent.began(System.currentTimeMillis(), "", configuration);
    RecordingWriter writer = open(folder, options);
    writer.add(began);
    return writer;
  }

  /// Begins a recording of events that have a first one already, such as a copy of another recording.
  ///
  /// @throws io.penstock.storage.engine.EngineFailure.DirectoryLockedException if another process writes it
  public static RecordingWriter open(Path folder, Options options) {
    return new RecordingWriter(engine(folder, options.segmentBytes()), options, System::nanoTime);
  }

  static SegmentEngine engine(Path folder, long segmentBytes) {
    try {
      Files.createDirectories(folder);
      try (var files = Files.list(folder)) {
        if (files.findAny().isPresent()) {
          throw new IllegalArgumentException("folder of a recording must be empty (was not: " + folder + ")");
        }
      }
      SegmentEngine engine =
          ChronicleEngine.open(folder, EngineOptions.defaults().withSegmentBytes(segmentBytes));
      try {
        Files.writeString(folder.resolve(MARK), FORMAT);
        return engine;
      } catch (IOException | RuntimeException | Error e) {
        engine.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  @Override
  public void add(RecordedEvent event) {
    pages.add(event);
  }

  @Override
  public boolean keepsPayloads() {
    return options.payloads();
  }

  @Override
  public long keep(Payload payload, MemorySegment bytes) {
    return pages.keep(payload, bytes);
  }

  @Override
  public boolean isFull() {
    return options.whenFull() == WhenFull.WAIT && pages.isFull();
  }

  @Override
  public Disposable whenRoom(Runnable work) {
    if (pages.await(work)) {
      return () -> pages.forget(work);
    }
    work.run();
    return Disposables.disposed();
  }

  @Override
  public boolean hasEnded() {
    return pages.isClosed();
  }

  /// Events that were left out, as the disk did not keep up or failed.
  public long missed() {
    return pages.missed() + unwritten;
  }

  /// Bytes of memory whose events wait for the disk.
  long waitingBytes() {
    return pages.used();
  }

  /// Calls and demand that wait for room.
  int waits() {
    return pages.waits();
  }

  private void write() {
    try {
      writeAll();
    } catch (Throwable thrown) {
      LOG.error("the recording ends here", thrown);
      throw thrown;
    } finally {
      pages.close().forEach(demand::execute); // whatever happened, nothing waits for ever
    }
  }

  private void writeAll() {
    while (true) {
      EventPages.Filled page = pages.take(PAGE_NANOS);
      if (page != null) {
        write(page);
        pages.giveBack(page).forEach(demand::execute);
      } else if (pages.isDrained()) {
        break;
      }
      keepWithinBounds();
      tellOfMissed();
    }
    long number = pages.number();
    if (number > written) { // the end is missing
      EventPages last = new EventPages(new EventPages.Bounds(MIN_WAITING_BYTES, false, false),
          engine.maxRecordBytes(), written, System::nanoTime);
      last.add(RecordedEvent.gap(number - written));
      last.close();
      EventPages.Filled gap = last.take(0);
      if (gap != null) {
        write(gap);
        last.giveBack(gap);
      }
      last.free();
    }
  }

  private void write(EventPages.Filled page) {
    try {
      int segment = engine.append(page.seal()).segment();
      long now = nanos.getAsLong();
      if (segments.isEmpty() || segments.getLast().number != segment) {
        segments.add(new Segment(segment, now));
      }
      segments.getLast().last = now;
      written = page.end();
      failing = false;
    } catch (RuntimeException e) { // numbers that are missing are a gap
      if (!failing) {
        failing = true;
        LOG.warn("the recording leaves out events, as its disk does not take them: {}", e.toString());
      }
      leaveOut(page.end() - page.first());
    }
  }

  /// Says once, at the first event, that the recording has a gap.
  private void tellOfMissed() {
    if (!toldOfMissed && pages.missed() > 0) {
      toldOfMissed = true;
      LOG.warn("the recording leaves out events, as its disk does not keep up; it can be played up to this gap");
    }
  }

  @SuppressWarnings("NonAtomicVolatileUpdate") // one thread writes
  private void leaveOut(long events) {
    unwritten += events;
  }

  private void keepWithinBounds() {
    try {
      Segment newest = segments.peekLast();
      long now = nanos.getAsLong();
      if (newest != null && engine.activeSegment() == newest.number
          && now - newest.began > options.mostAge().toNanos() / FILES_OF_AGE) {
        engine.roll();
      }
      while (isTooMuch(now)) {
        engine.delete(segments.getFirst().number);
        segments.removeFirst();
      }
      keepingTooMuch = false;
    } catch (RuntimeException e) { // tried again
      if (!keepingTooMuch) {
        keepingTooMuch = true;
        LOG.warn("the recording cannot delete its oldest file, and grows beyond its bound: {}", e.toString());
      }
    }
  }

  private boolean isTooMuch(long now) {
    Segment oldest = segments.peek();
    return oldest != null && oldest.number != engine.activeSegment()
        && (segments.size() * options.segmentBytes() > options.mostBytes()
            || now - oldest.last > options.mostAge().toNanos());
  }

  /// Writes what waits, and ends the recording. What was withheld goes on.
  @Override
  public void close() {
    pages.close().forEach(demand::execute);
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    demand.shutdown();
    engine.close();
    pages.free();
    if (missed() > 0) {
      LOG.warn("the recording has gaps: {} events were left out, as its disk did not {}", missed(),
          unwritten > 0 ? "take them" : "keep up");
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
