package io.penstock.storage.engine;

import static java.util.Objects.requireNonNull;

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

/// The queue that one run of an engine appends to: a directory of its own, one cycle a segment, one mapping a cycle.
///
/// Chronicle frames the records and publishes them; their bytes go into the file with a positioned write at the place
/// that it gave. So the only mapped words that Java touches are Chronicle's own headers and its table of locks, on
/// pages made present just before.
final class ChronicleRun implements AutoCloseable {
  static {
    System.setProperty("chronicle.announcer.disable", "true"); // no lines of its own on the console
    System.setProperty("chronicle.disk.monitor.disable", "true"); // the engine watches the free space itself
  }

  /// Header, index and end mark of a cycle file, and what alignment takes, are less than this.
  static final int OVERHEAD_BYTES = 64 << 10;

  /// Chronicle notes the place of every so many records, in an index of so many places at the head of the file. A
  /// second index would be in the midst of the records, on pages that were not made present.
  private static final int INDEX_SPACING = 256;
  private static final int INDEX_COUNT = 1024;

  /// For so long a page that was made present is not made so again: to do that with each record costs a tenth of an
  /// append of 64 KiB.
  private static final long PRESENT_NANOS = 250_000;

  /// As far behind a record as Chronicle may look when it publishes it.
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
  /// When all pages were made present that Chronicle touches with each record.
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
    appender.singleThreadedCheckDisabled(true); // the engine's lock keeps callers apart
  }

  static ChronicleRun begin(Path path, int firstSegment, long segmentBytes) throws IOException {
    Files.createDirectory(path);
    return new ChronicleRun(path, firstSegment, segmentBytes);
  }

  /// Makes the file of the next cycle, with its space reserved and its first pages present, before Chronicle maps it.
  SegmentFile nextCycle(int segment, long segmentBytes, SpareSegments from) throws IOException {
    Path name = path.resolve(ChronicleFormat.fileName(segment));
    ByteBuffer head = ByteBuffer.allocateDirect(OVERHEAD_BYTES);
    boolean anew = from.begin(name, SegmentHead.put(head, ChronicleFormat.HEAD_AT, segment));
    SegmentFile file = anew ? SegmentFile.existing(segment, name) : SegmentFile.create(segment, name);
    try {
      NativePages.reserve(file.path(), segmentBytes);
      if (!anew) {
        Transfer.write(file.channel(), 0, head);
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

  /// Whether Chronicle has the file of `segment` mapped.
  boolean isMapped(int segment) {
    return mapped.contains(segment);
  }

  /// Hears from Chronicle which files it maps and lets go.
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

  /// Appends the record of `parts` to `file`; answers its offset. Another file than the last time ends the cycle of
  /// that one.
  long append(SegmentFile file, MemorySegment[] parts, int length) throws IOException {
    if (current != file || isLongAgo()) {
      makePresentAgain(file);
    }
    current = file;
    cycle = file.number();
    try (DocumentContext document = appender.writingDocument()) {
      try {
        Bytes<?> bytes = requireNonNull(document.wire(), "wire").bytes();
        long offset = bytes.writePosition();
        mappedAt = bytes.addressForWrite(offset) - offset;
        Transfer.writeAll(file.channel(), offset, andBehind(parts));
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

  /// Writes what is there already. A medium that holds its writes holds this one, which keeps no other thread from
  /// going on: making a page present there would keep the lock of the whole address space meanwhile, and so stop every
  /// thread that maps or allocates.
  private void awaitMedium(SegmentFile file) throws IOException {
    Transfer.write(file.channel(), file.end() + BEHIND_BYTES - 1, behind.clear().limit(1));
  }

  private ByteBuffer[] andBehind(MemorySegment[] parts) {
    ByteBuffer[] buffers = RecordParts.buffers(parts, 1);
    buffers[parts.length] = behind.clear();
    return buffers;
  }

  /// Chronicle writes the word behind everything written so far when it publishes a record, and when it begins the next
  /// one. Its page is made by the write of the record, which goes a little further: a page that a fault has to make is
  /// read from the medium first, and with it the megabytes behind it, reserved and empty, which are zeroed only to be
  /// overwritten. Here it is mapped.
  private void makePresent(SegmentFile file, long end) throws IOException {
    NativePages.populate(mappedAt + end, BEHIND_BYTES, file.path());
  }

  /// Chronicle notes at the head of a file how far it is written, and the place of every so many records.
  private void makeHeadPresent(SegmentFile file) throws IOException {
    NativePages.populate(mappedAt, records % INDEX_SPACING == 0 ? OVERHEAD_BYTES : 1, file.path());
  }

  /// Chronicle takes and gives back its lock in a file of its own. A page that was
  /// brought to the medium must be had for writing again, which a medium that does not answer makes wait.
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

  /// Whether `path` has no cycle left.
  static boolean isEmpty(Path path) throws IOException {
    try (var files = Files.list(path)) {
      return files.noneMatch(file -> ChronicleFormat.segment(file) > 0);
    }
  }

  /// Removes a directory without cycles.
  static void remove(Path path) throws IOException {
    try (var files = Files.list(path)) {
      for (Path file : files.toList()) {
        Files.deleteIfExists(file);
      }
    }
    Files.deleteIfExists(path);
  }

}
