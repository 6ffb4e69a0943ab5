package io.penstock.storage.check;

import com.google.errorprone.annotations.concurrent.GuardedBy;
import io.penstock.storage.engine.StorageFailedException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps damaged bytes aside: `quarantine/` of the journal, a file for each range, and a line for each in
/// `index.jsonl`. Safe from any thread, none of which waits for another one longer than its first look at the folder,
/// or a line of the index, takes.
public final class Quarantine {
  private static final String FOLDER = "quarantine";
  private static final String INDEX = "index.jsonl";

  private final Path journal;
  private final Path folder;
  private final QuarantineBound bound;
  private final Object looking = new Object();
  /// What is there, once it was looked at.
  @GuardedBy("looking") private @Nullable QuarantineStock stock;
  /// Copies that are being made, by the beginnings of their names.
  @GuardedBy("this") private final Set<String> begun = new HashSet<>();
  @GuardedBy("this") private long unkept;

  public Quarantine(Path journal, QuarantineBound bound) {
    this.journal = journal;
    this.folder = journal.resolve(FOLDER);
    this.bound = bound;
  }

  /// Keeps `bytes`, which were read where `damage` says.
  ///
  /// They are on the medium when this returns. What is kept already is not kept again.
  ///
  /// @return the name of the copy, below the journal's directory; null if another thread just makes it, or one of that
  ///     place is there and the bound is reached
  /// @throws StorageFailedException if the disk refuses, or the bound is reached. There is no copy then, unless the
  ///     disk refused no more than its line in the index or the sync behind it: that copy stays, takes its room, and is
  ///     noted when it is to be kept again.
  public @Nullable String keep(MemorySegment bytes, Damage damage) {
    return keep(draft -> write(bytes.asByteBuffer(), draft), damage.offset(), bytes.byteSize(), damage);
  }

  /// Calls of [#keep] that failed.
  public synchronized long unkept() {
    return unkept;
  }

  /// Whether a copy is being made.
  synchronized boolean isBegun() {
    return !begun.isEmpty();
  }

  private interface Copy {
    void to(Path draft) throws IOException;
  }

  private @Nullable String keep(Copy copy, long offset, long length, Damage damage) {
    String name = "segment-%010d-%012d".formatted(damage.segment(), offset);
    try {
      Files.createDirectories(folder);
      QuarantineStock there = stock();
      if (!begin(there, name, length)) {
        return null;
      }
      boolean isNew = false;
      Path draft = folder.resolve(name + ".draft");
      try {
        copy.to(draft);
        Path kept = folder.resolve(name(draft, name));
        if (Files.exists(draft)) {
          Files.move(draft, kept, StandardCopyOption.ATOMIC_MOVE);
          isNew = true;
        }
        note(there, kept, offset, length, damage);
        force(folder);
        force(journal);
        return journal.relativize(kept).toString();
      } catch (Throwable e) {
        remove(draft, e); // it may be incomplete
        throw e;
      } finally {
        end(there, name, isNew ? 0 : length);
      }
    } catch (IOException e) {
      synchronized (this) {
        unkept++;
      }
      throw new StorageFailedException("set damage aside in " + folder, e);
    }
  }

  /// The first caller looks what is there; the others wait for that, as a draft of theirs would be taken for one of
  /// an earlier run.
  private QuarantineStock stock() throws IOException {
    synchronized (looking) {
      if (stock == null) {
        stock = QuarantineStock.of(folder, folder.resolve(INDEX));
      }
      return stock;
    }
  }

  /// @return false if another thread makes this copy, or one of that place is there and the bound is reached
  private synchronized boolean begin(QuarantineStock there, String name, long length) throws IOException {
    if (begun.contains(name)) {
      return false;
    }
    if (there.fits(length, bound)) {
      there.take(length);
      return begun.add(name);
    }
    if (there.has(name)) {
      return false;
    }
    throw new IOException("quarantine must stay within " + bound.records() + " records and " + bound.bytes()
        + " bytes (had " + there + ", and "
        + length + " bytes came)");
  }

  private synchronized void end(QuarantineStock there, String name, long unused) {
    begun.remove(name);
    if (unused > 0) {
      there.giveBack(unused);
    }
  }

  private static void remove(Path draft, Throwable first) {
    try {
      Files.deleteIfExists(draft);
    } catch (IOException e) {
      first.addSuppressed(e);
    }
  }

  private static void write(ByteBuffer bytes, Path to) throws IOException {
    try (FileChannel file = FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING,
        StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    }
  }

  /// The name that has the bytes of `draft`, which goes then, or one that nothing has.
  private String name(Path draft, String name) throws IOException {
    for (int number = 1;; number++) {
      Path target = folder.resolve(name + (number == 1 ? "" : "-" + number) + ".bin");
      if (!Files.exists(target)) {
        return target.getFileName().toString();
      }
      if (Files.mismatch(draft, target) < 0) {
        Files.delete(draft);
        return target.getFileName().toString();
      }
    }
  }

  private void note(QuarantineStock there, Path kept, long offset, long length, Damage damage) throws IOException {
    String file = text(kept.getFileName().toString());
    String line =
        "{\"file\":%s,\"segment\":%d,\"offset\":%d,\"length\":%d,\"kind\":%s,"
            + "\"key\":%s,\"sequence\":%d,\"reason\":%s}\n"
                .formatted(file,
                    damage.segment(), offset, length, text(damage.kind().name()), text(damage.key()), damage.sequence(),
                    text(damage.reason()));
    synchronized (this) {
      if (there.isNoted(line)) {
        return; // an earlier repair came as far as this
      }
    }
    try (FileChannel lines =
        FileChannel.open(folder.resolve(INDEX), StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      there.index().append(line, lines);
      lines.force(true);
    }
    synchronized (this) {
      there.note(line);
    }
  }

  private static String text(@Nullable String value) {
    return value == null ? "null" : "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }
}
