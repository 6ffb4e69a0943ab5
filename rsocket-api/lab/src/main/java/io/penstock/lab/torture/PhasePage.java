package io.penstock.lab.torture;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.foreign.Arena;
import java.lang.foreign.MemorySegment;
import java.lang.foreign.ValueLayout;
import java.lang.invoke.VarHandle;
import java.nio.channels.FileChannel;
import java.nio.channels.FileChannel.MapMode;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;

/// A page of memory that two processes see: the writer states its phase in it, and the statement is still there when
/// the writer is dead.
///
/// It has a word for the thread that opens and appends, one for the thread that syncs, and a count of beginnings for
/// each phase.
final class PhasePage implements AutoCloseable {
  /// Thread of the writer.
  enum Lane {
    APPENDING,
    SYNCING
  }

  private static final VarHandle WORD = ValueLayout.JAVA_LONG.varHandle();
  private static final int COUNTS = Lane.values().length;
  private static final long BYTES = (long) Long.BYTES * (COUNTS + Phase.values().length);

  private final Arena arena = Arena.ofShared();
  private final MemorySegment page;

  private PhasePage(Path file) throws IOException {
    try (FileChannel channel =
        FileChannel.open(file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE)) {
      page = channel.map(MapMode.READ_WRITE, 0, BYTES, arena);
    }
  }

  static PhasePage open(Path file) {
    try {
      return new PhasePage(file);
    } catch (IOException e) {
      throw new UncheckedIOException("could not map " + file, e);
    }
  }

  private static long offset(int word) {
    return (long) Long.BYTES * word;
  }

  /// A new writer begins: nothing is counted yet.
  void clear() {
    page.fill((byte) 0);
  }

  /// `lane` begins `phase`.
  void begin(Lane lane, Phase phase) {
    WORD.setVolatile(page, offset(lane.ordinal()), (long) phase.ordinal());
    WORD.getAndAdd(page, offset(COUNTS + phase.ordinal()), 1L);
  }

  /// `lane` is at nothing.
  void idle(Lane lane) {
    WORD.setVolatile(page, offset(lane.ordinal()), (long) Phase.IDLE.ordinal());
  }

  Phase phase(Lane lane) {
    return Phase.values()[(int) (long) WORD.getVolatile(page, offset(lane.ordinal()))];
  }

  /// Number of beginnings of `phase`.
  long count(Phase phase) {
    return (long) WORD.getVolatile(page, offset(COUNTS + phase.ordinal()));
  }

  @Override
  public void close() {
    arena.close();
  }
}
