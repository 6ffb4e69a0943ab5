package io.penstock.storage.engine.file;

import static java.util.Objects.requireNonNull;

import io.penstock.storage.engine.NativePages;
import io.penstock.storage.engine.RecordParts;
import java.io.File;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import net.openhft.chronicle.bytes.Bytes;
import net.openhft.chronicle.queue.ExcerptAppender;
import net.openhft.chronicle.queue.impl.StoreFileListener;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueue;
import net.openhft.chronicle.queue.impl.single.SingleChronicleQueueBuilder;
import net.openhft.chronicle.queue.rollcycles.LegacyRollCycles;
import net.openhft.chronicle.wire.DocumentContext;
import org.jspecify.annotations.Nullable;

/// The queue to which one run of an engine appends: a directory of its own, one cycle a segment, one mapping a cycle.
///
/// Chronicle frames and publishes the records. A positioned write puts their bytes into the file, where Chronicle says.
/// So Java touches no mapped words but Chronicle's headers and its table of locks, on pages made present just before.
final class ChronicleRun implements AutoCloseable {
  static {
    System.setProperty("chronicle.announcer.disable", "true"); // no lines on the console
    System.setProperty("chronicle.disk.monitor.disable", "true"); // the engine watches the free space itself
  }

  /// More than header, index, end mark and alignment of a cycle file.
  static final int OVERHEAD_BYTES = 64 << 10;

  /// Chronicle notes the place of one record in 256, in an index of 1,024 places at the head of the file. A second
  /// index would lie among the records, on pages that were not made present.
  private static final int INDEX_SPACING = 256;
  private static final int INDEX_COUNT = 1024;

  /// A page that was made present counts as present for this long: a call for each record would cost a tenth of an
  /// append of 64 KiB.
  private static final long PRESENT_NANOS = 250_000;

  /// Maximum distance behind a record that Chronicle may read when it publishes the record.
  static final int BEHIND_BYTES = 64;

  private final Path path;
  private final SingleChronicleQueue queue;
  private final ExcerptAppender appender;
  private final Set<Integer> mapped = ConcurrentHashMap.newKeySet();
  private volatile int cycle;
  private int records;
  private @Nullable SegmentFile current;
  private final ByteBuffer behind = ByteBuffer.allocateDirect(BEHIND_BYTES);
  private final long table;
  private long mappedAt;
  /// Time at which the pages that Chronicle touches with each record were made present.
  private long presentSince;

  private ChronicleRun(Path path, int firstSegment, long segmentBytes) {
    this.path = path;
    this.cycle = firstSegment;
    this.queue = SingleChronicleQueueBuilder.binary(path.toFile())
        .rollCycle(LegacyRollCycles.HOURLY)
        .timeProvider(() -> cycle * ChronicleFormat.HOUR_MILLIS + 1)
        .blockSize(segmentBytes)
        .indexSpacing(INDEX_SPACING)
        .indexCount(INDEX_COUNT)
        .storeFileListener(new Mapped())
        .build();
    this.appender = queue.createAppender();
    this.table = queue.metaStore().bytes().addressForRead(0);
    appender.singleThreadedCheckDisabled(true); // the engine holds a lock
  }

  static ChronicleRun begin(Path path, int firstSegment, long segmentBytes) throws IOException {
    Files.createDirectory(path);
    return new ChronicleRun(path, firstSegment, segmentBytes);
  }

  /// Makes the file of the next cycle before Chronicle maps it, with its space reserved and its first pages present.
  SegmentFile nextCycle(int segment, long segmentBytes, SpareSegments from) throws IOException {
    Path name = path.resolve(ChronicleFormat.fileName(segment));
    ByteBuffer head = ByteBuffer.allocateDirect(OVERHEAD_BYTES);
    boolean anew = from.begin(name, SegmentHead.put(head, ChronicleFormat.HEAD_AT, segment));
    SegmentFile file = anew ? SegmentFile.existing(segment, name) : SegmentFile.create(segment, name);
    try {
      NativePages.reserve(file.path(), segmentBytes);
      if (!anew) {
        FileBytes.write(file.channel(), 0, head);
      }
    } catch (IOException e) {
      Files.deleteIfExists(file.path());
      file.release();
      throw e;
    }
    file.end(0);
    records = 0;
    return file;
  }

  /// Whether another record would need a second index.
  boolean isFull() {
    return records == INDEX_SPACING * INDEX_COUNT;
  }

  /// Whether Chronicle may have the file of `segment` mapped.
  boolean isMapped(int segment) {
    return mapped.contains(segment);
  }

  /// Receives files that Chronicle maps and unmaps, on a thread of Chronicle, some time later. So [#append] notes a
  /// file itself before it is mapped.
  private final class Mapped implements StoreFileListener {
    @Override
    public void onAcquired(int segment, File file) {
      mapped.add(segment);
    }

    @Override
    public void onReleased(int segment, File file) {
      mapped.remove(segment);
    }
  }

  /// Appends a record to `file`. A new file ends the cycle of the one before.
  long append(SegmentFile file, MemorySegment[] parts, int length) throws IOException {
    if (current != file || isLongAgo()) {
      makePresentAgain(file);
    }
    if (current != file) {
      mapped.add(file.number());
    }
    current = file;
    cycle = file.number();
    try (DocumentContext document = appender.writingDocument()) {
      try {
        Bytes<?> bytes = requireNonNull(document.wire(), "wire").bytes();
        long offset = bytes.writePosition();
        mappedAt = bytes.addressForWrite(offset) - offset;
        FileBytes.writeAll(file.channel(), offset, andBehind(parts));
        makePresent(file, offset + length);
        if (records % INDEX_SPACING == 0 || isLongAgo()) {
          makeHeadPresent(file);
          makeTablePresent();
          presentSince = System.nanoTime();
        }
        bytes.writePosition(offset + length);
        records++;
        return offset;
      } catch (IOException | RuntimeException e) {
        document.rollbackOnClose();
        throw e;
      }
    }
  }

  private boolean isLongAgo() {
    return System.nanoTime() - presentSince > PRESENT_NANOS;
  }

  private void makePresentAgain(SegmentFile file) throws IOException {
    if (current == file) {
      awaitMedium(file);
    }
    makeTablePresent();
    if (current != null) {
      makePresent(current, current.end());
    }
  }

  /// Writes a byte that is there already. If the medium holds its writes, this thread waits here, and no other. To make
  /// a page present there would hold the lock of the whole address space, and stop every thread that maps or allocates.
  private void awaitMedium(SegmentFile file) throws IOException {
    FileBytes.write(file.channel(), file.end() + BEHIND_BYTES - 1, behind.clear().limit(1));
  }

  private ByteBuffer[] andBehind(MemorySegment[] parts) {
    ByteBuffer[] buffers = RecordParts.buffers(parts, 1);
    buffers[parts.length] = behind.clear();
    return buffers;
  }

  /// Makes the page behind a record present. Chronicle writes a word there when it publishes the record, and when it
  /// begins the next one. The record's own write goes a little further and so makes the page: a page made by a fault
  /// would be read from the medium, with megabytes of reserved zeros behind it.
  private void makePresent(SegmentFile file, long end) throws IOException {
    NativePages.populate(mappedAt + end, BEHIND_BYTES, file.path());
  }

  /// Loads the pages of the head, which Chronicle writes next: the write position and, for one record in 256, an index
  /// entry.
  private void makeHeadPresent(SegmentFile file) throws IOException {
    NativePages.populate(mappedAt, records % INDEX_SPACING == 0 ? OVERHEAD_BYTES : 1, file.path());
  }

  /// Makes the table of Chronicle's lock present. A stalled medium makes a page wait that was synced and is written
  /// again.
  private void makeTablePresent() throws IOException {
    NativePages.populate(table, 1, path);
  }

  Path path() {
    return path;
  }

  @Override
  public void close() {
    appender.close();
    queue.close();
  }

  /// Whether `path` has no cycle.
  static boolean isEmpty(Path path) throws IOException {
    try (var files = Files.list(path)) {
      return files.noneMatch(file -> ChronicleFormat.segment(file) > 0);
    }
  }

  /// Deletes a directory without cycles.
  static void remove(Path path) throws IOException {
    try (var files = Files.list(path)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(path);
  }

}
