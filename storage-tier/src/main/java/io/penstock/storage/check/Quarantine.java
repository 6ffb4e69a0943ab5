package io.penstock.storage.check;

import io.penstock.storage.engine.StorageFailedException;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import org.jspecify.annotations.Nullable;

/// Keeps damaged bytes aside: `quarantine/` of the journal, a file for each range, and a line for each in `index.jsonl`.
final class Quarantine {
  private static final String FOLDER = "quarantine";
  private static final String INDEX = "index.jsonl";

  private final Path journal;
  private final Path folder;

  Quarantine(Path journal) {
    this.journal = journal;
    this.folder = journal.resolve(FOLDER);
  }

  /// Copies `length` bytes of `segment` from `offset` on; they are on the medium when this returns. What is kept already is not kept again.
  ///
  /// @return the name of the copy, below the journal's directory
  String keep(FileChannel segment, long offset, long length, Damage damage) {
    try {
      Files.createDirectories(folder);
      Path draft = folder.resolve("draft");
      copy(segment, offset, length, draft);
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
    if (Files.exists(index) && Files.readString(index).contains(line)) {
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

  private static String text(@Nullable String value) {
    return value == null ? "null" : "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }

  private static void force(Path directory) throws IOException {
    try (FileChannel names = FileChannel.open(directory, StandardOpenOption.READ)) {
      names.force(true);
    }
  }
}
