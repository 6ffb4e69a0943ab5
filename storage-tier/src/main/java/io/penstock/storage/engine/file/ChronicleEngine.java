package io.penstock.storage.engine.file;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.EngineFailure.DirectoryLockedException;
import io.penstock.storage.engine.EngineFailure.EngineUnavailableException;
import io.penstock.storage.engine.EngineFailure.JournalFormatException;
import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.FreeSpace;
import io.penstock.storage.engine.SegmentWindow;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/// A log of Chronicle Queue cycles. Each segment is one cycle file: rolled by size, mapped once, its space reserved
/// beforehand.
///
/// Every run of the engine appends to a queue of its own, in a directory named after its first segment. The engine
/// reads and deletes files of earlier runs without Chronicle.
public final class ChronicleEngine extends FileEngine {
  /// As in `SegmentEngine.name()`.
  public static final String NAME = "chronicle";

  static final Pattern RUN = Pattern.compile("run-\\d{10}");

  @GuardedBy("this") private @Nullable ChronicleRun run;

  private ChronicleEngine(Path directory, EngineOptions options, FreeSpace space) {
    super(NAME, EngineDirectory.open(directory, NAME), options, space);
  }

  /// Opens the journal in `directory`, which is made if it is not there.
  ///
  /// @throws DirectoryLockedException if another process has it open
  /// @throws JournalFormatException if something else, or another version, wrote it
  /// @throws EngineUnavailableException if the JVM was started without the flags that Chronicle needs
  public static ChronicleEngine open(Path directory, EngineOptions options) {
    return open(directory, options, FreeSpace.of(directory));
  }

  /// Looks whether this process can run the engine. Touches no file.
  ///
  /// @throws EngineUnavailableException if the JVM was started without the flags that Chronicle needs
  public static void require() {
    ChronicleAccess.require();
  }

  /// Opens the engine with another source for the free space.
  public static ChronicleEngine open(Path directory, EngineOptions options, FreeSpace space) {
    ChronicleAccess.require();
    ChronicleEngine engine = new ChronicleEngine(directory, options, space);
    return engine.opened(engine);
  }

  @Override
  boolean isPlain() {
    return false;
  }

  @Override
  void removeEmptyRuns(Path from) throws IOException {
    try (Stream<Path> runs = Files.list(from)) {
      for (Path each : runs.filter(path -> RUN.matcher(path.getFileName().toString()).matches()).toList()) {
        if (ChronicleRun.isEmpty(each)) {
          ChronicleRun.remove(each);
        }
      }
    }
  }

  @Override
  @GuardedBy("this") SegmentFile create(EngineDirectory in, SpareSegments from, int number) throws IOException {
    ChronicleRun queue = run;
    if (queue == null) {
      queue = ChronicleRun.begin(in.path().resolve("run-%010d".formatted(number)), number, options().segmentBytes());
      run = queue;
    }
    return queue.nextCycle(number, options().segmentBytes(), from);
  }

  @Override
  @GuardedBy("this") boolean isMapped(int segment) {
    ChronicleRun queue = run;
    return queue != null && queue.isMapped(segment);
  }

  @Override
  void ended(SegmentFile file) {
    // Chronicle marks the end when the next segment begins
  }

  @Override
  @GuardedBy("this") long endAfter(SegmentFile file, int length) {
    ChronicleRun queue = run;
    boolean full = queue != null && queue.isFull();
    return full ? Long.MAX_VALUE : file.end() + length + ChronicleRun.OVERHEAD_BYTES;
  }

  @Override
  @GuardedBy("this") long write(SegmentFile file, MemorySegment[] parts, int length) throws IOException {
    ChronicleRun queue = run;
    if (queue == null) {
      throw new IllegalStateException("a run must have begun before its segment " + file.number());
    }
    return queue.append(file, parts, length);
  }

  @Override
  SegmentWindow window(SegmentWindow file, int segment) {
    return ChronicleFormat.window(file);
  }

  @Override
  void afterDelete(SegmentFile file) throws IOException {
    Path directory = file.path().getParent();
    if (!isOfThisRun(file) && directory != null && ChronicleRun.isEmpty(directory)) {
      ChronicleRun.remove(directory);
    }
  }

  /// Whether Chronicle may have the file mapped.
  private synchronized boolean isOfThisRun(SegmentFile file) {
    ChronicleRun queue = run;
    return queue != null && queue.path().equals(file.path().getParent());
  }

  /// Chronicle may have half a document or half a file open: the next segment begins a new run.
  @Override
  @GuardedBy("this")
  void abandon() {
    ChronicleRun queue = run;
    run = null;
    if (queue != null) {
      try {
        queue.close();
      } catch (RuntimeException | InternalError e) {
        // the mappings stay until the process ends
      }
    }
  }

  @Override
  @GuardedBy("this")
  void finish(@Nullable SegmentFile last) throws IOException {
    ChronicleRun queue = run;
    if (queue != null) {
      queue.close();
      if (last != null) {
        last.cut(last.end());
      }
    }
  }
}
