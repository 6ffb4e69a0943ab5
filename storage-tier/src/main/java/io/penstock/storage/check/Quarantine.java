package io.penstock.storage.check;

import io.penstock.storage.engine.StorageFailedException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps damaged bytes aside: `quarantine/` of the journal, a file for each range, and a line for each in `index.jsonl`. One thread.
public final class Quarantine {
  private static final String FOLDER = "quarantine";
  private static final String INDEX = "index.jsonl";

  private final Path journal;
  private final Path folder;
  /// The lines of the index, once they were read.
  private @Nullable Set<String> lines;

  /// That of the journal in the directory `journal`.
  public Quarantine(Path journal) {
    this.journal = journal;
    this.folder = journal.resolve(FOLDER);
  }

  /// Copies `length` bytes of `segment` from `offset` on; they are on the medium when this returns. What is kept already is not kept again.
  ///
  /// @return the name of the copy, below the journal's directory
  String keep(FileChannel segment, long offset, long length, Damage damage) {
    return keep(draft -> copy(segment, offset, length, draft), offset, length, damage);
  }

  /// Keeps `bytes`, which were read where `damage` says.
  ///
  /// @return as above
  /// @throws StorageFailedException if the disk refuses
  public String keep(MemorySegment bytes, Damage damage) {
    return keep(draft -> write(bytes.asByteBuffer(), draft), damage.offset(), damage.length(), damage);
  }

  private interface Copy {
    void to(Path draft) throws IOException;
  }

  private String keep(Copy copy, long offset, long length, Damage damage) {
    try {
      Files.createDirectories(folder);
      Path draft = folder.resolve("draft");
      copy.to(draft);
      Path kept = named(draft, "segment-%010d-%012d".formatted(damage.segment(), offset));
      note(kept, offset, length, damage);
      force(folder);
      force(journal);
      return journal.relativize(kept).toString();
    } catch (IOException e) {
      throw new StorageFailedException("set damage aside in " + folder, e);
    }
  }

  private static void copy(FileChannel from, long offset, long length, Path to) throws IOException {
    try (FileChannel file = FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
      long done = 0;
      while (done < length) {
        long count = from.transferTo(offset + done, length - done, file);
        if (count <= 0) {
          throw new IOException("could not copy " + (length - done) + " bytes at " + (offset + done));
        }
        done += count;
      }
      file.force(true);
    }
  }

  private static void write(ByteBuffer bytes, Path to) throws IOException {
    try (FileChannel file = FileChannel.open(to, StandardOpenOption.CREATE, StandardOpenOption.TRUNCATE_EXISTING, StandardOpenOption.WRITE)) {
      while (bytes.hasRemaining()) {
        file.write(bytes);
      }
      file.force(true);
    }
  }

  /// Gives `draft` a name that nothing else has, unless the same bytes have it.
  private Path named(Path draft, String name) throws IOException {
    for (int number = 1; ; number++) {
      Path target = folder.resolve(name + (number == 1 ? "" : "-" + number) + ".bin");
      if (!Files.exists(target)) {
        return Files.move(draft, target, StandardCopyOption.ATOMIC_MOVE);
      }
      if (Files.mismatch(draft, target) < 0) {
        Files.delete(draft);
        return target;
      }
    }
  }

  private void note(Path kept, long offset, long length, Damage damage) throws IOException {
    Path index = folder.resolve(INDEX);
    String file = text(kept.getFileName().toString());
    String line = "{\"file\":%s,\"segment\":%d,\"offset\":%d,\"length\":%d,\"kind\":%s,\"key\":%s,\"sequence\":%d,\"reason\":%s}\n".formatted(file,
        damage.segment(), offset, length, text(damage.kind().name()), text(damage.key()), damage.sequence(), text(damage.reason()));
    Set<String> known = lines == null ? read(index) : lines;
    lines = known;
    if (!known.add(line)) {
      return; // an earlier repair came as far as this
    }
    try (FileChannel lines = FileChannel.open(index, StandardOpenOption.CREATE, StandardOpenOption.APPEND)) {
      ByteBuffer bytes = StandardCharsets.UTF_8.encode(line);
      while (bytes.hasRemaining()) {
        lines.write(bytes);
      }
      lines.force(true);
    }
  }

  private static Set<String> read(Path index) throws IOException {
    Set<String> found = new HashSet<>();
    if (Files.exists(index)) {
      Files.readAllLines(index).forEach(each -> found.add(each + "\n"));
    }
    return found;
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
