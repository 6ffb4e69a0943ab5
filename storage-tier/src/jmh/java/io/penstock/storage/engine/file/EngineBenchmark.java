package io.penstock.storage.engine.file;

import io.penstock.storage.engine.EngineOptions;
import io.penstock.storage.engine.Location;
import io.penstock.storage.engine.SegmentEngine;
import java.io.IOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Fork;
import org.openjdk.jmh.annotations.Measurement;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;
import org.openjdk.jmh.annotations.TearDown;
import org.openjdk.jmh.annotations.Warmup;

/// Append and random read of records, beside writes and reads of a bare file and beside a copy in memory: GB/s = bytes
/// / (1,000 × µs).
///
/// Appending keeps at most 256 MiB: older segments are deleted, as a bare file starts again from its beginning, cut to
/// nothing.
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.MICROSECONDS)
@Fork(1)
@Warmup(iterations = 2, time = 1)
@Measurement(iterations = 3, time = 1)
public class EngineBenchmark {
  private static final long SEGMENT = 64L << 20;
  private static final long KEPT = 4 * SEGMENT;
  private static final int SOURCE = 64 << 20;

  /// What is measured: an engine, or a baseline.
  public enum Subject {
    CHRONICLE, PLAIN, BARE_FILE, MEMORY_COPY
  }

  @Param
  Subject subject;

  @Param({"65536", "1048576"})
  int bytes;

  private final Random random = new Random(1);
  private final List<Location> readable = new ArrayList<>();
  private Arena arena;
  private MemorySegment source;
  private MemorySegment target;
  private Path directory;
  private SegmentEngine engine;
  private SegmentEngine full;
  private FileChannel file;
  private FileChannel fullFile;
  private MemorySegment memory;
  private long written;
  private long position;

  @Setup
  public void open() throws IOException {
    arena = Arena.ofShared();
    source = arena.allocate(SOURCE, 4096).fill((byte) 0x5A);
    target = arena.allocate(SOURCE, 4096).fill((byte) 1);
    directory = Files.createTempDirectory(Path.of("target"), "engine-benchmark");
    switch (subject) {
      case BARE_FILE -> openFiles();
      case MEMORY_COPY -> memory = arena.allocate(KEPT, 4096).fill((byte) 2);
      case CHRONICLE, PLAIN -> openEngines();
    }
  }

  private void openFiles() throws IOException {
    file = open("append");
    fullFile = open("read");
    for (long at = 0; at < KEPT; at += bytes) {
      FileBytes.write(fullFile, at, source.asSlice(0, bytes).asByteBuffer());
    }
  }

  private FileChannel open(String name) throws IOException {
    return FileChannel.open(directory.resolve(name), StandardOpenOption.CREATE, StandardOpenOption.READ,
        StandardOpenOption.WRITE);
  }

  private void openEngines() {
    engine = engine("append");
    full = engine("read");
    for (long at = 0; at < KEPT; at += bytes) {
      readable.add(full.append(source.asSlice(0, bytes)));
    }
  }

  private SegmentEngine engine(String name) {
    EngineOptions options = new EngineOptions(SEGMENT, 0);
    return switch (subject) {
      case CHRONICLE -> ChronicleEngine.open(directory.resolve(name), options);
      case PLAIN -> PlainEngine.open(directory.resolve(name), options);
      case BARE_FILE, MEMORY_COPY -> throw new IllegalStateException("subject must be an engine (was " + subject + ")");
    };
  }

  @TearDown
  public void close() throws IOException {
    if (engine != null) {
      engine.close();
      full.close();
    }
    if (file != null) {
      file.close();
      fullFile.close();
    }
    arena.close();
    try (Stream<Path> files = Files.walk(directory)) {
      for (Path each : files.sorted(Comparator.reverseOrder()).toList()) {
        Files.delete(each);
      }
    }
  }

  @Benchmark
  public long append() throws IOException {
    MemorySegment record = part(source);
    switch (subject) {
      case CHRONICLE, PLAIN -> appendRecord(record);
      case BARE_FILE -> appendBytes(record);
      case MEMORY_COPY -> MemorySegment.copy(record, 0, memory, written % KEPT, bytes);
    }
    written += bytes;
    return written;
  }

  private void appendRecord(MemorySegment record) {
    engine.append(record);
    List<Integer> segments = engine.segments();
    if (segments.size() > KEPT / SEGMENT) {
      engine.delete(segments.getFirst());
    }
  }

  private void appendBytes(MemorySegment record) throws IOException {
    if (written % KEPT == 0) {
      file.truncate(0);
    }
    FileBytes.write(file, written % KEPT, record.asByteBuffer());
  }

  @Benchmark
  public MemorySegment randomRead() throws IOException {
    MemorySegment into = part(target);
    int which = random.nextInt((int) (KEPT / bytes));
    switch (subject) {
      case CHRONICLE, PLAIN -> full.read(readable.get(which), 0, into);
      case BARE_FILE -> FileBytes.read(fullFile, (long) which * bytes, into);
      case MEMORY_COPY -> MemorySegment.copy(memory, (long) which * bytes, into, 0, bytes);
    }
    return into;
  }

  /// The next part, in rotation, so that bytes come from memory rather than from a cache.
  private MemorySegment part(MemorySegment of) {
    position = position + bytes > SOURCE - bytes ? 0 : position + bytes;
    return of.asSlice(position, bytes);
  }
}
