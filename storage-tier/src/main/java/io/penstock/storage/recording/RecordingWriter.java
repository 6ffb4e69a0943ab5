package io.penstock.storage.recording;

import static java.util.Objects.requireNonNull;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.check.Checks;
import io.penstock.recording.EventCodec;
import io.penstock.recording.RecordedEvent;
import io.penstock.recording.Script;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.SegmentEngine;
import io.penstock.storage.engine.file.ChronicleEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/// Writes a recording to a folder, through Chronicle Queue, on a thread of its own.
///
/// [#add] never waits. If the disk does not keep up, events are left out, and a *gap* tells how many: a recording is
/// played up to its first gap. The newest segments are kept, up to the bytes that the options allow.
public final class RecordingWriter implements Script, AutoCloseable {
  /// File that makes a folder a recording.
  static final String MARK = "recording";
  static final String FORMAT_NAME = "penstock recording, format ";
  static final String FORMAT = FORMAT_NAME + "1\n";
  private static final Logger LOG = LoggerFactory.getLogger(RecordingWriter.class);
  private static final int PAGE_BYTES = 256 << 10;
  /// Events wait no longer than this for more of their page.
  private static final long PAGE_NANOS = 50_000_000;

  private final SegmentEngine engine;
  private final Options options;
  private final Arena arena = Arena.ofShared();
  private final MemorySegment memory;
  private final ByteBuffer page;
  private final Thread thread;
  @GuardedBy("this") private ArrayDeque<RecordedEvent> waiting = new ArrayDeque<>();
  /// Events left out since the last one that was taken.
  @GuardedBy("this") private long missing;
  @GuardedBy("this") private long missed;
  @GuardedBy("this") private boolean closed;
  // Used by the thread
  private long first;
  private int count;
  /// When the first event of the page came.
  private long since;
  private boolean failing;

  /// Bounds of a recording.
  ///
  /// @param segmentBytes of a file
  /// @param mostBytes of all files; the oldest ones go
  /// @param waitingEvents that may wait for the disk
  public record Options(long segmentBytes, long mostBytes, int waitingEvents) {
    public Options {
      Checks.positive("waitingEvents", waitingEvents);
      if (mostBytes < 2 * segmentBytes) {
        throw new IllegalArgumentException(
            "mostBytes must be >= 2 segments of " + segmentBytes + " bytes (was " + mostBytes + ")");
      }
    }

    /// Files of 64 MiB, 8 GiB in all, 65,536 events that wait.
    public static Options defaults() {
      return new Options(64L << 20, 8L << 30, 1 << 16);
    }
  }

  private RecordingWriter(SegmentEngine engine, Options options) {
    this.engine = engine;
    this.options = options;
    this.memory = arena.allocate(Math.min(engine.maxRecordBytes(), 4 << 20), 64);
    this.page = memory.asByteBuffer().position(Page.HEAD_BYTES);
    this.thread = Thread.ofPlatform().name("penstock-recording").daemon().unstarted(this::write);
  }

  /// Begins a recording in `folder`, which is made if it is not there and must be empty.
  ///
  /// @throws io.penstock.storage.engine.EngineFailure.DirectoryLockedException if another process writes it
  public static RecordingWriter open(Path folder, Options options) {
    RecordingWriter writer;
    try {
      Files.createDirectories(folder);
      try (var files = Files.list(folder)) {
        if (files.findAny().isPresent()) {
          throw new IllegalArgumentException("folder of a recording must be empty (was not: " + folder + ")");
        }
      }
      SegmentEngine engine = ChronicleEngine.open(folder,
          EngineOptions.defaults().withSegmentBytes(options.segmentBytes()));
      try {
        Files.writeString(folder.resolve(MARK), FORMAT);
        writer = new RecordingWriter(engine, options);
      } catch (IOException | RuntimeException | Error e) {
        engine.close();
        throw e;
      }
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
    writer.thread.start();
    return writer;
  }

  @Override
  public void add(RecordedEvent event) {
    boolean wakes;
    synchronized (this) {
      if (closed) {
        return;
      }
      if (waiting.size() >= options.waitingEvents()) {
        missing++;
        missed++;
        return;
      }
      wakes = waiting.isEmpty();
      if (missing > 0) {
        waiting.add(RecordedEvent.gap(missing));
        missing = 0;
      }
      waiting.add(event);
      if (wakes) {
        notifyAll();
      }
    }
  }

  @Override
  public synchronized boolean hasEnded() {
    return closed;
  }

  /// Events that were left out, as the disk did not keep up or failed.
  synchronized long missed() {
    return missed;
  }

  private void write() {
    while (true) {
      List<RecordedEvent> events = taken();
      for (RecordedEvent event : events) {
        write(event);
      }
      if (events.isEmpty() || System.nanoTime() - since > PAGE_NANOS) {
        flush();
      }
      if (events.isEmpty() && isOver()) {
        return;
      }
    }
  }

  private synchronized boolean isOver() {
    return closed && waiting.isEmpty();
  }

  /// Events that wait; none after [#PAGE_NANOS] without any.
  private synchronized List<RecordedEvent> taken() {
    try {
      long end = System.nanoTime() + PAGE_NANOS;
      for (long left = PAGE_NANOS; waiting.isEmpty() && !closed && left > 0; left = end - System.nanoTime()) {
        TimeUnit.NANOSECONDS.timedWait(this, left);
      }
    } catch (InterruptedException e) {
      closed = true;
    }
    List<RecordedEvent> events = new ArrayList<>(waiting);
    waiting = new ArrayDeque<>();
    if (closed && missing > 0) {
      events.add(RecordedEvent.gap(missing));
      missing = 0;
    }
    return events;
  }

  private void write(RecordedEvent event) {
    int most = EventCodec.mostBytes(event);
    boolean isFull = page.remaining() - SegmentEngine.RECORD_ALIGNMENT < most;
    if (count > 0 && (isFull || page.position() >= PAGE_BYTES)) {
      flush();
    }
    if (page.remaining() - SegmentEngine.RECORD_ALIGNMENT < most) { // its number is missing: a gap
      first++;
      leaveOut(1);
      return;
    }
    if (count++ == 0) {
      since = System.nanoTime();
    }
    EventCodec.write(event, page);
  }

  private void flush() {
    if (count == 0) {
      return;
    }
    try {
      engine.append(Page.seal(page, memory, first, count));
      keepWithinBounds();
      failing = false;
    } catch (RuntimeException e) {
      if (!failing) {
        failing = true;
        LOG.warn("the recording leaves out events, as its disk does not take them: {}", e.toString());
      }
      leaveOut(count);
    }
    first += count; // numbers that are missing are a gap
    count = 0;
    page.clear().position(Page.HEAD_BYTES);
  }

  private synchronized void leaveOut(long events) {
    missed += events;
  }

  private void keepWithinBounds() {
    List<Integer> segments = engine.segments();
    for (int i = 0; (segments.size() - i) * options.segmentBytes() > options.mostBytes(); i++) {
      engine.delete(requireNonNull(segments.get(i)));
    }
  }

  /// Writes what waits, and ends the recording.
  @Override
  public void close() {
    synchronized (this) {
      closed = true;
      notifyAll();
    }
    boolean interrupted = false;
    while (thread.isAlive()) {
      try {
        thread.join();
      } catch (InterruptedException e) {
        interrupted = true;
      }
    }
    engine.close();
    arena.close();
    if (missed() > 0) {
      LOG.warn("the recording has gaps: {} events were left out, as its disk did not keep up", missed());
    }
    if (interrupted) {
      Thread.currentThread().interrupt();
    }
  }
}
