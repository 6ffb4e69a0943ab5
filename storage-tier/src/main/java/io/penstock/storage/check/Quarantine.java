package io.penstock.storage.check;

import io.penstock.storage.engine.DurableFiles;
import io.penstock.storage.engine.EngineFailure.StorageFailedException;
import java.io.IOException;
import java.lang.foreign.MemorySegment;
import java.nio.charset.StandardCharsets;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashSet;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/// Keeps damaged bytes aside: `quarantine/` of the journal, a file for each range, and a line for each in
/// `index.jsonl`. Used by one thread at a time.
public final class Quarantine {
  private static final String FOLDER = "quarantine";
  private static final String INDEX = "index.jsonl";

  private final Path journal;
  private final Path folder;
  private final QuarantineBound bound;
  /// Content of the folder; null before the first look, and after a failure.
  private @Nullable Stock stock;

  private static final class Stock {
    private final Set<String> lines = new HashSet<>();
    private boolean endsInALine = true;
    private long bytes;
    private int records;
  }

  public Quarantine(Path journal, QuarantineBound bound) {
    this.journal = journal;
    this.folder = journal.resolve(FOLDER);
    this.bound = bound;
  }

  /// Keeps `bytes`, which were read at the place of `damage`. The copy is on the medium when this returns. Bytes that
  /// are kept already are not kept again.
  ///
  /// @return the name of the copy, below the journal's directory
  /// @throws StorageFailedException if the disk refuses, or the bound is reached. If the disk refused only the line in
  ///     the index, or the sync after it, the copy stays, and the next call for it writes the line.
  public String keep(MemorySegment bytes, Damage damage) {
    try {
      Files.createDirectories(folder);
      Stock there = stock == null ? look() : stock;
      stock = there;
      Path copy = copyOf(bytes, "segment-%010d-%012d".formatted(damage.segment(), damage.offset()));
      boolean isNew = !Files.exists(copy);
      if (isNew) {
        requireRoom(there, bytes.byteSize());
      }
      stock = null; // until all of it succeeded
      if (isNew) {
        DurableFiles.replace(copy, bytes.asByteBuffer(), true);
        there.bytes += bytes.byteSize();
        there.records++;
      }
      note(there, line(copy, bytes.byteSize(), damage));
      DurableFiles.force(folder);
      DurableFiles.force(journal);
      stock = there;
      return journal.relativize(copy).toString();
    } catch (IOException e) {
      throw new StorageFailedException("set damage aside in " + folder, e);
    }
  }

  /// Reads the copies of earlier runs, and deletes unfinished ones.
  private Stock look() throws IOException {
    Stock found = new Stock();
    Path index = folder.resolve(INDEX);
    if (Files.exists(index)) {
      String text = Files.readString(index);
      text.lines().forEach(found.lines::add);
      found.endsInALine = text.isEmpty() || text.endsWith("\n");
    }
    try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, "*{.bin," + DurableFiles.DRAFT + "}")) {
      for (Path file : files) {
        if (file.toString().endsWith(DurableFiles.DRAFT)) {
          Files.delete(file);
        } else {
          found.bytes += Files.size(file);
          found.records++;
        }
      }
    }
    return found;
  }

  private void requireRoom(Stock there, long bytes) throws IOException {
    if (there.records >= bound.records() || bytes > bound.bytes() - there.bytes) {
      throw new IOException(("quarantine must stay within %d records and %d bytes (had %d records and %d bytes, and %d"
          + " bytes came)").formatted(bound.records(), bound.bytes(), there.records, there.bytes, bytes));
    }
  }

  /// The file that has these bytes or, if none has them, the first free name.
  private Path copyOf(MemorySegment bytes, String name) throws IOException {
    Path copy = folder.resolve(name + ".bin");
    for (int number = 2; Files.exists(copy) && !isCopy(copy, bytes); number++) {
      copy = folder.resolve(name + "-" + number + ".bin");
    }
    return copy;
  }

  private static boolean isCopy(Path file, MemorySegment bytes) throws IOException {
    return Files.size(file) == bytes.byteSize()
        && MemorySegment.ofArray(Files.readAllBytes(file)).mismatch(bytes) < 0;
  }

  private static String line(Path copy, long length, Damage damage) {
    return ("{\"file\":%s,\"segment\":%d,\"offset\":%d,\"length\":%d,\"kind\":%s,\"key\":%s,\"sequence\":%d,"
        + "\"reason\":%s}").formatted(text(copy.getFileName().toString()), damage.segment(), damage.offset(), length,
            text(damage.kind().name()), text(damage.key()), damage.sequence(), text(damage.reason()));
  }

  private void note(Stock there, String line) throws IOException {
    if (there.lines.add(line)) {
      String text = (there.endsInALine ? "" : "\n") + line + "\n";
      DurableFiles.append(folder.resolve(INDEX), StandardCharsets.UTF_8.encode(text));
      there.endsInALine = true;
    }
  }

  private static String text(@Nullable String value) {
    return value == null ? "null" : "\"" + value.replace("\\", "\\\\").replace("\"", "\\\"") + "\"";
  }
}
